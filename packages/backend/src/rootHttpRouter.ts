import { rootHttpRouterServiceFactory } from '@backstage/backend-defaults/rootHttpRouter';
import { requestLog } from './requestLog';

/**
 * Bytes of request line and headers that the portal accepts; Node's default is
 * 16 KiB, beyond which it answers 431 before any handler runs.
 *
 * A Kerberos token is up to 64 KiB (the largest MaxTokenSize of Windows), which
 * base64 makes 86 KiB; the rest is for cookies and everything else.
 */
const maxHeaderSize = 128 * 1024;

/**
 * Backstage's root HTTP router with room for a Kerberos ticket in the headers
 * and a request log that does not record queries.
 */
export const rootHttpRouter = rootHttpRouterServiceFactory({
  configure({ server, middleware, logger, applyDefaults }) {
    // `http.Server` reads this for each connection, although only its
    // constructor's option is documented (node: lib/_http_server.js,
    // connectionListenerInternal). The test sends 100 KB of headers.
    Object.assign(server, { maxHeaderSize });

    // Replaced on the factory rather than by composing the middleware here:
    // the defaults also read `backend.trustProxy` and `backend.server`, and
    // those settings must keep working.
    middleware.logging = () => requestLog({ logger });
    applyDefaults();
  },
});
