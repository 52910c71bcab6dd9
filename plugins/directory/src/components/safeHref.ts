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
    return undefined; // without a scheme, it would be a path of the portal
  }
}

/**
 * Returns the normalized URL of a directory value if it is safe for a link;
 * `undefined` for schemes other than https, http, mailto, irc, ircs and matrix.
 * Users set these values themselves, so they may contain `javascript:` URLs.
 */
export function safeHref(text: string): string | undefined {
  return parseSafe(text)?.href;
}

/**
 * Returns the host of a URL as the browser parses it: in ASCII, and without the
 * user name before an `@`, which may look like another host. `undefined` when
 * {@link safeHref} rejects the URL or it has no host.
 */
export function hostOf(text: string): string | undefined {
  return parseSafe(text)?.host || undefined;
}

/**
 * Returns the link text of a URL: its real host and path, without the scheme
 * for web pages. Returns text that {@link safeHref} rejects unchanged.
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

/** Returns the `mailto:` URL of an e-mail address (RFC 6068). */
export function mailHref(address: string): string {
  // Special characters are percent-encoded.
  return `mailto:${encodeURIComponent(address).replace('%40', '@')}`;
}

/** The site's own chat servers, by host name. */
export interface ChatServers {
  matrix?: string;
  irc?: string;
}

/** A nick or channel of a chat network. */
interface ChatName {
  /** In lower case. */
  scheme: 'irc' | 'ircs' | 'matrix';

  /**
   * Host name; `undefined` for the site's own server if it is not configured.
   */
  server: string | undefined;
  name: string;
}

/**
 * Parses a nick or channel as stored in the directory: `irc:/name`,
 * `irc://server/name`, `matrix:/name` or `matrix://server/name`. A name without
 * a server belongs to the site's own server. Returns `undefined` for other
 * text.
 */
export function parseChatUri(
  uri: string,
  servers: ChatServers = {},
): ChatName | undefined {
  const [, prefix, server, name] =
    uri.match(/^(ircs?|matrix):(?:\/\/([^/]*))?\/([^/]+)$/i) ?? [];
  if (!prefix) {
    return undefined;
  }
  const scheme = prefix.toLowerCase() as ChatName['scheme'];
  const own = scheme === 'matrix' ? servers.matrix : servers.irc;
  return { scheme, server: server || own, name };
}

/** Returns the matrix.to URL of a Matrix ID, which opens the user's client. */
export function matrixHref(id: string): string {
  return `https://matrix.to/#/${encodeURIComponent(id)}`;
}
