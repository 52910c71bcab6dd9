import {
  type RootHttpRouterConfigureContext,
  rootHttpRouterServiceFactory,
} from '@backstage/backend-defaults/rootHttpRouter';
import { ServiceUnavailableError } from '@backstage/errors';
import { raiseHeaderLimit } from '@directory-gateway/kerberos';
import type { Response } from 'express';
import { guardApi } from './guardApi';
import { guardHosts } from './guardHosts';
import { guardInput } from './guardInput';
import { requestLog } from './requestLog';

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
  const { app, server, config, middleware, logger, lifecycle } = context;
  raiseHeaderLimit(server);
  limitErrorMessages(app.response);
  const checkHost = guardHosts(config);
  const checkApi = guardApi(config);
  const checkInput = guardInput();
  const rateLimit = middleware.rateLimit();
  const notFound = middleware.notFound();
  let hasStarted = false;
  lifecycle.addStartupHook(() => {
    hasStarted = true;
  });

  // Replaced on the factory rather than by composing the middleware here: the
  // defaults also read `backend.trustProxy` and `backend.server`.
  middleware.logging = () => requestLog({ logger });
  // The last middleware before the routes: refused requests are logged and get
  // the CORS and security headers.
  middleware.rateLimit = () => (req, res, next) => {
    checkHost(req);
    checkApi(req, res);
    rateLimit(req, res, error =>
      error ? next(error) : checkInput(req, res, next),
    );
  };
  // The server listens before the plugins have added their routes.
  middleware.notFound = () => (req, res, next) => {
    if (hasStarted) {
      notFound(req, res, next);
    } else {
      res.set('Retry-After', '5');
      next(new ServiceUnavailableError('The backend has not started yet.'));
    }
  };
  context.applyDefaults();
}

/** Longest message of an error: zod describes each part of a request. */
const MAX_MESSAGE = 1000;

/** Statuses of server errors whose message is for clients. */
const EXPLAINED = [501, 503];

/**
 * Sends only the name and the shortened message of an error in responses of
 * Backstage's error middleware: its cause and other properties may contain SQL.
 * The message of a server error may too, unless its status is one of
 * {@link EXPLAINED}. The log contains the original.
 */
function limitErrorMessages(response: Response): void {
  const { json } = response;
  response.json = function sendWithoutDetails(body) {
    const error = body?.error;
    if (this.statusCode < 400 || typeof error?.message !== 'string') {
      return json.call(this, body);
    }
    const shown =
      this.statusCode < 500 || EXPLAINED.includes(this.statusCode)
        ? { name: error.name, message: error.message.slice(0, MAX_MESSAGE) }
        : {
            name: 'Error',
            message: 'An internal error occurred. See the log.',
          };
    return json.call(this, { ...body, error: shown });
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
