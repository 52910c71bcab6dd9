/**
 * Reads a time of the API, `2020-04-23T10:16:35`, which is UTC without saying
 * so; `undefined` for `null` and for what is no time.
 */
export function parseUtc(text: string | null | undefined): Date | undefined {
  if (!text) {
    return undefined;
  }
  const date = new Date(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
