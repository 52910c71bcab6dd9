/** A value made safe for a distinguished name (RFC 4514 §2.4). */
export function escapeRdnValue(value: string): string {
  return value
    .replace(/[\\"+,;<>=]/g, '\\$&')
    .replaceAll('\0', '\\00')
    .replace(/^[ #]/, '\\$&')
    .replace(/(?<!\\) $/, '\\ ');
}
