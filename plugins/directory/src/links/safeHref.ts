const SCHEMES = new Set([
  'https:',
  'http:',
  'mailto:',
  'irc:',
  'ircs:',
  'matrix:',
]);

/**
 * A URL of the directory, fit for a link: `undefined` for any scheme but
 * https, http, mailto, irc, ircs and matrix. People write these values
 * themselves, so `javascript:` and its kin are to be expected.
 */
export function safeHref(text: string): string | undefined {
  try {
    const url = new URL(text.trim());
    return SCHEMES.has(url.protocol) ? url.href : undefined;
  } catch {
    return undefined; // no scheme: it would be taken as a path of the portal
  }
}
