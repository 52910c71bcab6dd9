/**
 * An answer less what is a server's own, however right it is: its address and
 * the number of the request.
 *
 * @param origin - for example `http://localhost:40123`. Default: none
 */
export function withoutServersOwn(text: string, origin?: string): string {
  const relative = origin === undefined ? text : text.replaceAll(origin, '');
  return relative.replace(/"request_id":\s*"[^"]*"/, '');
}
