import { NotAllowedError } from '@backstage/errors';
import { Router, type RequestHandler } from 'express';
import onHeaders from 'on-headers';

const setResourcePolicy: RequestHandler = (_req, res, next) => {
  res.set('Cross-Origin-Resource-Policy', 'same-site');
  next();
};

const setNoStore: RequestHandler = (_req, res, next) => {
  onHeaders(res, () => {
    if (!res.hasHeader('Cache-Control')) {
      res.setHeader('Cache-Control', 'no-store');
    }
  });
  next();
};

/**
 * Refuses requests that a browser sends for a page of another site. A browser
 * adds cookies and SPNEGO tokens to such requests. Allowed are origins of
 * `backend.cors`, and navigations of the whole window: links to documents, and
 * the redirects and forms of an identity provider to `/api/auth`. The API of
 * the directory plugin checks the origin of writes and exports itself, and
 * audits what it refuses.
 */
const refuseCrossSite: RequestHandler = (req, res, next) => {
  const isCrossSite =
    req.headers['sec-fetch-site'] === 'cross-site' &&
    !/^\/directory\/(v1|fasjson)\//i.test(req.path);
  const isNavigation =
    req.headers['sec-fetch-mode'] === 'navigate' &&
    req.headers['sec-fetch-dest'] === 'document' &&
    (['GET', 'HEAD'].includes(req.method) || /^\/auth\//i.test(req.path));
  const { origin } = req.headers;
  const isCorsOrigin =
    origin !== undefined && res.get('Access-Control-Allow-Origin') === origin;
  if (isCrossSite && !isNavigation && !isCorsOrigin) {
    next(new NotAllowedError('Cross-site requests are not allowed.'));
    return;
  }
  next();
};

/**
 * Refuses the routes of Backstage's scheduler, which let every signed-in user
 * list, start and cancel the tasks of every plugin.
 */
const refuseSchedulerRoutes: RequestHandler = (_req, _res, next) => {
  next(new NotAllowedError('The routes of the scheduler are not available.'));
};

const requireRequestedWith: RequestHandler = (req, _res, next) => {
  next(
    req.headers['x-requested-with']
      ? undefined
      : new NotAllowedError('The header X-Requested-With is missing.'),
  );
};

/** Errors of Backstage whose messages are written for the caller. */
const PUBLIC_ERRORS = ['NotImplementedError', 'ServiceUnavailableError'];

/**
 * Replaces the error in 5xx responses of Backstage's error middleware, which
 * may contain SQL. The plugin's log has the original.
 */
const hideErrorMessages: RequestHandler = (_req, res, next) => {
  const { json } = res;
  res.json = body =>
    json.call(res, res.statusCode >= 500 ? withoutDetails(body) : body);
  next();
};

function withoutDetails(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('error' in body)) {
    return body;
  }
  const { error } = body as {
    error?: { name?: unknown; message?: unknown } | null;
  };
  const isPublic = PUBLIC_ERRORS.some(name => name === error?.name);
  return {
    ...body,
    error: isPublic
      ? { name: error?.name, message: error?.message }
      : {
          name: 'Error',
          message: 'An internal error occurred. The log has the details.',
        },
  };
}

/**
 * Checks and response headers that Backstage's plugins leave to the server:
 *
 * - Requests of other sites to `/api` get 403: see {@link refuseCrossSite}.
 * - `/api/<plugin>/.backstage/scheduler/` gets 403: see
 *   {@link refuseSchedulerRoutes}.
 * - `/api/auth/<provider>/refresh` requires the `X-Requested-With` header,
 *   which Backstage's clients send and forms and images of other sites cannot.
 * - Responses of `/api` without `Cache-Control` get `no-store`.
 * - Server errors do not contain messages of drivers: see
 *   {@link hideErrorMessages}.
 * - Every response has `Cross-Origin-Resource-Policy: same-site`.
 */
export function guardApi(): Router {
  // Nested like the routers of Backstage, so that a path with a repeated slash
  // matches here whenever it matches there.
  const provider = Router().all('/refresh', requireRequestedWith);
  const auth = Router().use('/:provider', provider);
  const plugin = Router().use('/.backstage/scheduler', refuseSchedulerRoutes);
  const api = Router()
    .use(setNoStore, hideErrorMessages, refuseCrossSite)
    .use('/:plugin', plugin)
    .use('/auth', auth);
  return Router().use(setResourcePolicy).use('/api', api);
}
