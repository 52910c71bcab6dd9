import { maxHeaderSize as processLimit, Server } from 'node:http';
import { MAX_TOKEN_BYTES } from './parseNegotiate';

/**
 * Size of headers in bytes that an HTTP server must accept: the largest token in
 * base64 plus 16 KiB, Node's default limit, for the other headers. A reverse
 * proxy in front of it needs the same limit (nginx:
 * `large_client_header_buffers`).
 */
const REQUIRED_HEADER_BYTES = Math.ceil(MAX_TOKEN_BYTES / 3) * 4 + 16_384;

/**
 * Raises a server's header limit to fit the largest accepted token; never
 * lowers it. Applies to connections opened afterwards.
 *
 * Node responds with 431 to more than 16 KiB of headers, and Active Directory
 * tickets are often larger. Backstage has no setting for this limit:
 *
 * ```ts
 * rootHttpRouterServiceFactory({
 *   configure({ server, applyDefaults }) {
 *     raiseHeaderLimit(server);
 *     applyDefaults();
 *   },
 * })
 * ```
 *
 * @public
 */
export function raiseHeaderLimit(server: Server): void {
  // Node reads this option from the server for each connection; its typings lack the property.
  const limited: Server & { maxHeaderSize?: number } = server;
  limited.maxHeaderSize = Math.max(
    limited.maxHeaderSize ?? processLimit,
    REQUIRED_HEADER_BYTES,
  );
}
