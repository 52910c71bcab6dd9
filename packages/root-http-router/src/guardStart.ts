import type { RootHttpRouterConfigureContext } from '@backstage/backend-defaults/rootHttpRouter';
import { ServiceUnavailableError } from '@backstage/errors';
import type { Request, Response } from 'express';

/** Maximum number of open requests per plugin until the backend has started. */
const MAX_OPEN = 200;

const PLUGIN = /^\/api\/+([^/]+)/i;
/**
 * The public keys of a plugin, which Backstage serves before the plugin has
 * started.
 */
const KEYS = /^\/api\/+[^/]+\/+\.backstage\/auth\/v1\/jwks\.json$/i;

/**
 * Handles requests that arrive before the backend has started. The server
 * listens before plugins have routes, and a plugin that has routes then holds
 * an unlimited number of requests for
 * `backend.lifecycle.startupRequestPauseTimeout`.
 *
 * - Requests without a route get 503 instead of 404.
 * - A plugin has at most 200 open requests; any others get 503. Requests for
 *   the plugin's public keys are exempt, because other plugins send them.
 *
 * @returns a function that returns the error of a refused request
 */
export function guardStart({
  lifecycle,
  middleware,
}: Pick<RootHttpRouterConfigureContext, 'lifecycle' | 'middleware'>): (
  req: Request,
  res: Response,
) => Error | undefined {
  let hasStarted = false;
  lifecycle.addStartupHook(() => {
    hasStarted = true;
  });

  const notFound = middleware.notFound();
  middleware.notFound = () => (req, res, next) => {
    if (hasStarted) {
      notFound(req, res, next);
    } else {
      next(new ServiceUnavailableError('The backend has not started yet.'));
    }
  };

  const open = new Map<string, number>();
  return (req, res) => {
    if (hasStarted) {
      return undefined;
    }
    const plugin = PLUGIN.exec(req.path)?.[1].toLowerCase();
    if (plugin === undefined || (req.method === 'GET' && KEYS.test(req.path))) {
      return undefined;
    }
    const count = open.get(plugin) ?? 0;
    if (count >= MAX_OPEN) {
      return new ServiceUnavailableError(
        'Too many requests are waiting for the start of the backend.',
      );
    }
    open.set(plugin, count + 1);
    res.once('close', () => {
      const others = (open.get(plugin) ?? 1) - 1;
      if (others > 0) {
        open.set(plugin, others);
      } else {
        open.delete(plugin);
      }
    });
    return undefined;
  };
}
