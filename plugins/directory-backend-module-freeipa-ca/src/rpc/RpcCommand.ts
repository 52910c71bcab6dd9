import type { RpcRecord } from './RpcValue';

/**
 * The API version whose answers this module understands. Without a version
 * FreeIPA assumes the oldest and sends a warning along.
 */
const API_VERSION = '2.251';

/** A command of FreeIPA's API and its parameters. */
export interface RpcCommand {
  readonly method: string;
  readonly args: readonly string[];
  readonly options: RpcRecord;
}

/** The body of a call (`ipaserver/rpcserver.py`, `jsonserver.unmarshal`). */
export function formatCall({ method, args, options }: RpcCommand): string {
  return JSON.stringify({
    method,
    params: [args, { ...options, version: API_VERSION }],
    id: 0,
  });
}
