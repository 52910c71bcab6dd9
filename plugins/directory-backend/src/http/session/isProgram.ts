import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a request is a program's. Browsers say what a request is for, in
 * headers that pages can neither set nor drop (W3C Fetch Metadata), or where
 * it comes from.
 */
export function isProgram(headers: IncomingHttpHeaders): boolean {
  if (headers.origin !== undefined) {
    return false;
  }
  for (const name in headers) {
    if (name.startsWith('sec-fetch-')) {
      return false;
    }
  }
  return true;
}
