import { NotAllowedError } from '@backstage/errors';
import type { RootConfigService } from '@backstage/backend-plugin-api';
import type { Express, Request, Response } from 'express';
import { ServerResponse } from 'node:http';

/*
 * Paths as Express matches them: case-insensitively, and with repeated slashes
 * wherever Backstage mounts a router.
 */
const API = /^\/api(\/|$)/i;
const AUTH = /^\/api\/+auth\//i;
const DIRECTORY = /^\/api\/+directory\/+(v1|fasjson)\//i;
const REFRESH = /^\/api\/+auth\/+[^/]+\/+refresh\/*$/i;
const ACTIONS = /^\/api\/+([^/]+)\/+\.backstage\/+actions(\/|$)/i;
const SCHEDULER = /^\/api\/+[^/]+\/+\.backstage\/+scheduler(\/|$)/i;

/**
 * A request target below `/api`, in origin form or absolute form (RFC 9112
 * §3.2). Express matches the path of the absolute form with any scheme.
 */
const API_TARGET = /^([^/?#]+:\/\/[^/?#]*)?\/api([/?#]|$)/i;

/**
 * Whether a browser sends a request for a page of another site and the request
 * is not allowed. A browser adds cookies and SPNEGO tokens to such requests.
 * Origins of `backend.cors` are allowed, and so are navigations of the whole
 * window: links to documents, and the redirects and forms of an identity
 * provider to `/api/auth`. The API of the directory plugin checks the origin of
 * writes and exports itself, and audits refusals.
 */
function isForbiddenCrossSite(req: Request, res: Response): boolean {
  if (
    req.headers['sec-fetch-site'] !== 'cross-site' ||
    DIRECTORY.test(req.path)
  ) {
    return false;
  }
  const isNavigation =
    req.headers['sec-fetch-mode'] === 'navigate' &&
    req.headers['sec-fetch-dest'] === 'document' &&
    (['GET', 'HEAD'].includes(req.method) || AUTH.test(req.path));
  const { origin } = req.headers;
  const isCorsOrigin =
    origin !== undefined && res.get('Access-Control-Allow-Origin') === origin;
  return !isNavigation && !isCorsOrigin;
}

function findRefusal(
  req: Request,
  res: Response,
  actionSources: ReadonlySet<string>,
): string | undefined {
  if (isForbiddenCrossSite(req, res)) {
    return 'Cross-site requests are not allowed.';
  }
  const source = ACTIONS.exec(req.path)?.[1].toLowerCase();
  if (source !== undefined && !actionSources.has(source)) {
    return `The actions of the plugin "${source}" are not available. Add it to backend.actions.pluginSources.`;
  }
  if (SCHEDULER.test(req.path)) {
    return 'The routes of the scheduler are not available.';
  }
  if (REFRESH.test(req.path) && !req.headers['x-requested-with']) {
    return 'The header X-Requested-With is missing.';
  }
  return undefined;
}

/** Value of `Retry-After` in 503 responses that have none, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Backstage errors whose messages are intended for the caller. */
const PUBLIC_ERRORS = ['NotImplementedError', 'ServiceUnavailableError'];

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
          message: 'An internal error occurred. See the log for details.',
        },
  };
}

/**
 * Checks and response headers that Backstage's plugins leave to the server:
 *
 * - Requests from other sites to `/api` get 403: see
 *   {@link isForbiddenCrossSite}.
 * - `/api/<plugin>/.backstage/scheduler/` gets 403. These routes let every
 *   signed-in user list, start and cancel the tasks of every plugin.
 * - `/api/<plugin>/.backstage/actions/` gets 403 unless the plugin is `directory`
 *   or listed in `backend.actions.pluginSources`. Many actions
 *   require no permission and parse input from any signed-in user.
 * - `/api/auth/<provider>/refresh` requires the `X-Requested-With` header,
 *   which Backstage's clients send, and which forms and images of other sites
 *   cannot send.
 * - Responses of `/api` without `Cache-Control` get `no-store`, and 503 without
 *   `Retry-After` gets `Retry-After: 5`: Backstage sends none while a plugin
 *   starts.
 * - Server errors do not contain driver messages: the error in 5xx responses of
 *   Backstage's error middleware may contain SQL. The plugin's log contains the
 *   original.
 * - Every response has `Cross-Origin-Resource-Policy: same-site`.
 *
 * @returns a function that returns the error of a refused request
 */
export function guardApi(
  app: Express,
  config: RootConfigService,
): (req: Request, res: Response) => Error | undefined {
  guardResponses(app.response);
  const actionSources = new Set([
    'directory',
    ...(config.getOptionalStringArray('backend.actions.pluginSources') ?? []),
  ]);
  return (req, res) => {
    res.setHeader('Cross-Origin-Resource-Policy', 'same-site');
    const refusal = API.test(req.path)
      ? findRefusal(req, res, actionSources)
      : undefined;
    return refusal === undefined ? undefined : new NotAllowedError(refusal);
  };
}

/**
 * Changes the prototype of all responses of the application: changing each
 * response would add several microseconds to every request.
 */
function guardResponses(response: Response): void {
  const { json } = response;
  const { writeHead } = ServerResponse.prototype;
  response.json = function hideErrorMessages(body) {
    return json.call(
      this,
      this.statusCode >= 500 ? withoutDetails(body) : body,
    );
  };
  response.writeHead = function addHeaders(
    this: Response,
    ...args: Parameters<typeof writeHead>
  ) {
    if (API_TARGET.test(this.req.originalUrl)) {
      if (!this.hasHeader('Cache-Control')) {
        this.setHeader('Cache-Control', 'no-store');
      }
      if (args[0] === 503 && !this.hasHeader('Retry-After')) {
        this.setHeader('Retry-After', RETRY_AFTER_SECONDS);
      }
    }
    return writeHead.apply(this, args);
  } as Response['writeHead'];
}
