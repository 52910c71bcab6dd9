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

/** What FreeIPA's JSON consists of: numbers beyond 2⁵³ are exact. */
export type RpcValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly RpcValue[]
  | RpcRecord;

/** A JSON object. */
export interface RpcRecord {
  readonly [key: string]: RpcValue | undefined;
}

/** Whether a value is an object, and no array. */
export function isRpcRecord(value: RpcValue | undefined): value is RpcRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Most of FreeIPA's attributes are arrays, also those with one value. */
export function single(value: RpcValue | undefined): RpcValue | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Whole numbers come as text since FreeIPA 4.10, as JSON numbers before. */
export function toBigInt(value: RpcValue | undefined): bigint | undefined {
  return ['string', 'number', 'bigint'].includes(typeof value) &&
    /^\d+$/.test(String(value))
    ? BigInt(String(value))
    : undefined;
}
