import {
  rootHttpRouterServiceFactory,
  type RootHttpRouterConfigureContext,
} from '@backstage/backend-defaults/rootHttpRouter';
import {
  raiseHeaderLimit,
  readKerberosConfig,
} from '@directory-gateway/kerberos';
import type { RequestHandler } from 'express';
import { compressResponses } from './compressResponses';
import { guardApi } from './guardApi';
import { guardCatalog } from './guardCatalog';
import { guardHosts } from './guardHosts';
import { guardUpgrades } from './guardUpgrades';
import { requestLog } from './requestLog';

/**
 * Configures a root HTTP router, including Backstage's defaults: call it in
 * place of `applyDefaults` when the portal has a `configure` callback of its
 * own.
 *
 * It raises the limit on request headers to the largest accepted Kerberos
 * token, replaces the request log by one without query strings, and adds the
 * checks that the package's README lists. All of them are on.
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
  raiseHeaderLimit(server, readKerberosConfig(config));

  const upgrades = guardUpgrades(server);
  const hosts = guardHosts(config);
  const rateLimit = middleware.rateLimit();

  // Replaced on the factory rather than by composing the middleware here:
  // the defaults also read `backend.trustProxy` and `backend.server`, and
  // those settings must keep working.
  middleware.logging = () => requestLog({ logger });
  middleware.compression = compressResponses;
  // The last middleware before the routes: refused requests are logged and
  // have the CORS and security headers.
  middleware.rateLimit = () =>
    inSequence([upgrades, hosts, rateLimit, guardApi(app), guardCatalog()]);
  applyDefaults();
}

/**
 * One handler of several. A router would do, but it takes up the routes after
 * it in another turn of the event loop, and every request passes here.
 */
function inSequence(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, next) => {
    const run = (index: number, error?: unknown) => {
      if (error !== undefined || index === handlers.length) {
        next(error);
        return;
      }
      try {
        handlers[index](req, res, result => run(index + 1, result));
      } catch (thrown) {
        next(thrown);
      }
    };
    run(0);
  };
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
