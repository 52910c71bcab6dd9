/** What FreeIPA's texts may hold that is not for callers. */
const INTERNAL = [
  /\b(?:cn|dc|o|ou|uid|fqdn|krbprincipalname)=/i, // distinguished names
  /\bhttps?:|\bhost=|\bport=|\/ca\//i, // addresses of servers
  /\b(?:java|javax|org|com|netscape)\.[a-z]+\.|\bat [\w.]+\(/, // Java traces
  /[^\P{C}]/u, // control characters, line ends
];

const MAX_LENGTH = 500;

/**
 * FreeIPA's words on why it refuses a request, when they are fit for whoever
 * asked the gateway: no names of servers or directory entries, no traces.
 *
 * @param options - `fallback` is what they get in its place.
 */
export function callerMessage(options: {
  readonly text: string;
  readonly fallback: string;
}): string {
  const { text, fallback } = options;
  const fit =
    text !== '' &&
    text.length <= MAX_LENGTH &&
    !INTERNAL.some(pattern => pattern.test(text));
  return fit ? text : fallback;
}
