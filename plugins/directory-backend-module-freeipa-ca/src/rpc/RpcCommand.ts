/**
 * API version of the results that this module reads. Without a version, FreeIPA
 * assumes the oldest one and returns a warning.
 */
const API_VERSION = '2.251';

/** A command of FreeIPA's API and its parameters. */
export interface RpcCommand {
  readonly method: string;
  readonly args: readonly string[];
  readonly options: RpcRecord;
}

/** A JSON value; integers beyond 2⁵³ are exact. */
export type RpcValue =
  null | boolean | number | bigint | string | readonly RpcValue[] | RpcRecord;

/** A JSON object. */
export interface RpcRecord {
  readonly [key: string]: RpcValue | undefined;
}

/** The body of a call (`ipaserver/rpcserver.py`, `jsonserver.unmarshal`). */
export function formatCall({ method, args, options }: RpcCommand): string {
  return JSON.stringify({
    method,
    params: [args, { ...options, version: API_VERSION }],
    id: 0,
  });
}

/** Returns whether a value is an object other than an array. */
export function isRpcRecord(value: RpcValue | undefined): value is RpcRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the first value: most attributes are arrays, even those with one
 * value.
 */
export function single(value: RpcValue | undefined): RpcValue | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/**
 * Reads an integer, which is text since FreeIPA 4.10 and was a JSON number
 * before.
 */
export function toBigInt(value: RpcValue | undefined): bigint | undefined {
  return ['string', 'number', 'bigint'].includes(typeof value) &&
    /^\d+$/.test(String(value))
    ? BigInt(String(value))
    : undefined;
}
