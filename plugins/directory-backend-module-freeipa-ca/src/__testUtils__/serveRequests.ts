import { READY, type WorkerAnswer } from './WorkerProcess';

/** The worker's side of {@link WorkerProcess}: answers what the parent asks. */
export function serveRequests<T extends object>(
  answer: (request: T) => Promise<unknown>,
): void {
  const tell = (message: WorkerAnswer) => process.send?.(message);
  process.on('message', async (request: T & { readonly id: number }) => {
    const { id } = request;
    try {
      tell({ id, result: await answer(request) });
    } catch (error) {
      tell({ id, failure: String(error) });
    }
  });
  tell({ id: READY, result: undefined });
}
