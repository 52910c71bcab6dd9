import compression, { type CompressionOptions } from 'compression';
import {
  type RootHttpRouterConfigureContext,
  rootHttpRouterServiceFactory,
} from '@backstage/backend-defaults/rootHttpRouter';
import { raiseHeaderLimit } from '@directory-gateway/kerberos';
import { guardApi } from './guardApi';
import { guardHosts } from './guardHosts';
import { guardInput } from './guardInput';
import { guardStart } from './guardStart';
import { requestLog } from './requestLog';
import type { RequestHandler } from 'express';

/**
 * Configures a root HTTP router, including Backstage's defaults: call it
 * instead of `applyDefaults` when the portal has its own `configure` callback.
 *
 * It raises the limit on request headers to the largest accepted Kerberos
 * token, replaces the request log with one without query strings, and adds the
 * checks that the package's README lists. All of them are always enabled.
 *
 * ```ts
 * rootHttpRouterServiceFactory({
 *   configure(context) {
 *     context.server.maxConnections = 5000;
 *     configureRootHttpRouter(context);
 *   },
 * })
 * ```
 *
 * @throws Error when `kerberos` or `rootHttpRouter` in the configuration is
 * invalid
 * @public
 */
export function configureRootHttpRouter(
  context: RootHttpRouterConfigureContext,
): void {
  const { app, server, config, middleware, logger, applyDefaults } = context;
  raiseHeaderLimit(server);

  const checkHost = guardHosts(config);
  const checkApiRequest = guardApi(app, config);
  const checkStart = guardStart(context);
  const checkInput = guardInput();
  const rateLimit = middleware.rateLimit();

  // Replaced on the factory rather than by composing the middleware here:
  // the defaults also read `backend.trustProxy` and `backend.server`, and
  // those settings must keep working.
  middleware.logging = () => requestLog({ logger });
  middleware.compression = compressResponses;
  // This is the last middleware before the routes: refused requests are logged
  // and get the CORS and security headers. A single handler replaces a router,
  // which would pass every request on in another turn of the event loop.
  middleware.rateLimit = () => (req, res, next) => {
    const refusal =
      checkHost(req) ?? checkApiRequest(req, res) ?? checkStart(req, res);
    if (refusal) {
      next(refusal);
      return;
    }
    rateLimit(req, res, error =>
      error ? next(error) : checkInput(req, res, next),
    );
  };
  applyDefaults();
}

/**
 * The root HTTP router service with {@link configureRootHttpRouter} applied:
 * `backend.add(rootHttpRouter)`.
 *
 * @public
 */
export const rootHttpRouter = rootHttpRouterServiceFactory({
  configure: configureRootHttpRouter,
});

/**
 * Bytes that a server may send before the first acknowledgment (RFC 6928).
 * Compressing a response of this size or less does not deliver it sooner.
 */
const INITIAL_WINDOW_BYTES = 14_600;

/**
 * Express middleware that compresses responses. API responses are not reused:
 * only large ones are compressed, at the fastest level. Files of the pages,
 * which browsers cache, are compressed at the default level.
 */
function compressResponses(): RequestHandler {
  const compressApi = handler({ threshold: INITIAL_WINDOW_BYTES, level: 1 });
  const compressPages = handler();
  return (req, res, next) => {
    const compress = req.path.startsWith('/api/') ? compressApi : compressPages;
    compress(req, res, next);
  };
}

/**
 * The types of `compression` are for Express 5; it also works with Express 4.
 */
function handler(options?: CompressionOptions): RequestHandler {
  return compression(options) as unknown as RequestHandler;
}
