const SCHEMES = new Set([
  'https:',
  'http:',
  'mailto:',
  'irc:',
  'ircs:',
  'matrix:',
]);

function parseSafe(text: string): URL | undefined {
  try {
    const url = new URL(text.trim());
    return SCHEMES.has(url.protocol) ? url : undefined;
  } catch {
    return undefined; // no scheme: it would be taken as a path of the portal
  }
}

/**
 * A URL of the directory, fit for a link: `undefined` for any scheme but
 * https, http, mailto, irc, ircs and matrix. People write these values
 * themselves, so `javascript:` and its kin are to be expected.
 */
export function safeHref(text: string): string | undefined {
  return parseSafe(text)?.href;
}

/**
 * The host to which a URL leads, as the browser reads it: in ASCII, and
 * without the user name before an `@`, which may look like another host.
 * `undefined` when {@link safeHref} refuses the URL or it has no host.
 */
export function hostOf(text: string): string | undefined {
  return parseSafe(text)?.host || undefined;
}

/**
 * The text of a link to a URL: its real host and its path; the scheme is left
 * out for web pages. A text that {@link safeHref} refuses is returned as it is.
 */
export function linkText(text: string): string {
  const url = parseSafe(text);
  if (!url) {
    return text;
  }
  const { protocol, host, pathname, search, hash } = url;
  const place = `${host}${pathname}${search}${hash}`;
  if (/^https?:$/.test(protocol)) {
    return place.replace(/\/$/, '');
  }
  return `${protocol}${host ? '//' : ''}${place}`;
}
