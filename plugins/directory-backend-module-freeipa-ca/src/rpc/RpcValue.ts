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
