/**
 * An integer that JSON carries to the last digit, however long
 * (`JSON.rawJSON`, in Node.js from 22 on).
 */
export function rawInteger(value: bigint): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return rawJSON(String(value));
}
