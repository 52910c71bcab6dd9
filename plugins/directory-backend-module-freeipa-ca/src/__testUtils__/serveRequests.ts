import { READY, type WorkerResponse } from './WorkerProcess';

/**
 * Responds to the requests from a {@link WorkerProcess} in the child process.
 */
export function serveRequests<T extends object>(
  handle: (request: T) => Promise<unknown>,
): void {
  const send = (message: WorkerResponse) => process.send?.(message);
  process.on('message', async (request: T & { readonly id: number }) => {
    const { id } = request;
    try {
      send({ id, result: await handle(request) });
    } catch (error) {
      send({ id, failure: String(error) });
    }
  });
  send({ id: READY, result: undefined });
}
