import { maxHeaderSize as processLimit, Server } from 'node:http';

/** Bytes for the other headers of a request: Node's default limit. */
const OTHER_HEADERS_BYTES = 16_384;

/**
 * Returns the size of headers that an HTTP server must accept: the largest
 * token in base64 plus 16 KiB for the other headers. A reverse proxy in front
 * of it needs the same limit (nginx: `large_client_header_buffers`).
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
 * Raises a server's header limit to fit the largest accepted token; never
 * lowers it. Applies to connections opened afterwards.
 *
 * Node responds with 431 to more than 16 KiB of headers, and Active Directory
 * tickets are often larger. Backstage has no setting for this limit:
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
  // Node reads this option from the server for each connection; its typings lack the property.
  const limited: Server & { maxHeaderSize?: number } = server;
  limited.maxHeaderSize = Math.max(
    limited.maxHeaderSize ?? processLimit,
    requiredHeaderBytes(options),
  );
}
