import { maxHeaderSize as processLimit, Server } from 'node:http';

/** For everything in a request's header block beside the token: what Node allows by default. */
const OTHER_HEADERS_BYTES = 16_384;

/**
 * The highest limit given to a server of this process. It has to be module state: the root HTTP
 * router's `configure` callback, which alone sees the server, cannot reach any service.
 */
let highestLimit = processLimit;

/**
 * How large a header block an HTTP server must let through so that the largest accepted token
 * arrives: the token in base64 and 16 KiB for the other headers.
 *
 * Whatever stands in front of the server needs the same (nginx: `large_client_header_buffers`).
 *
 * @returns bytes; 103,768 for the default `maxTokenBytes` of 65,536
 * @public
 */
export function requiredHeaderBytes(options: {
  maxTokenBytes: number;
}): number {
  return Math.ceil(options.maxTokenBytes / 3) * 4 + OTHER_HEADERS_BYTES;
}

/**
 * Lets a server take headers with the largest accepted token; never lowers its limit. Holds for
 * connections opened afterwards.
 *
 * Node answers 431 to more than 16 KiB of headers, before any handler sees the request, and a
 * ticket from Active Directory is easily larger. Backstage has no setting for it:
 *
 * ```ts
 * rootHttpRouterServiceFactory({
 *   configure({ server, config, applyDefaults }) {
 *     raiseHeaderLimit(server, readKerberosConfig(config));
 *     applyDefaults();
 *   },
 * })
 * ```
 *
 * @public
 */
export function raiseHeaderLimit(
  server: Server,
  options: { maxTokenBytes: number },
): void {
  // An option of createServer that Node reads from the server again for each connection, though
  // its typings do not list the property.
  const limited: Server & { maxHeaderSize?: number } = server;
  limited.maxHeaderSize = Math.max(
    limited.maxHeaderSize ?? processLimit,
    requiredHeaderBytes(options),
  );
  highestLimit = Math.max(highestLimit, limited.maxHeaderSize);
}

/**
 * The most that any server of this process is known to let through, in bytes: Node's own limit
 * (`--max-http-header-size`), or what {@link raiseHeaderLimit} made of it.
 */
export function highestHeaderLimit(): number {
  return highestLimit;
}
