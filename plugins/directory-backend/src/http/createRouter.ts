import type { LoggerService } from '@backstage/backend-plugin-api';
import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import {
  type IRoute,
  type NextFunction,
  type Request,
  type Response,
  Router,
  raw,
} from 'express';
import PromiseRouter from 'express-promise-router';
import type { IncomingHttpHeaders } from 'node:http';
import type { Accounts, Caller } from '@directory-gateway/directory-core';
import type { AccessControl } from '../access/AccessControl';
import type { Authenticator } from './Authenticator';
import type { Operation } from './api/Operation';
import type { Dialect } from './api/Dialect';
import type { PublicDocuments } from './documents/PublicDocuments';
import { readParameters } from './request/readParameters';
import {
  ApiError,
  ForbiddenError,
  UnauthorizedError,
  UnknownPathError,
} from '../apiErrors';
import { FileStream, sendFile } from './response/FileStream';
import { sendJson } from './response/json';
import { presentError } from './response/presentError';

/** Responses depend on the caller and on the field mask. */
const VARY = 'Authorization, Cookie, X-Fields';

/** Reads request bodies of any type, at most 64 KiB. */
const readBody = raw({ type: () => true, limit: 64 * 1024 });

/** A dialect and its operations. */
interface Mount {
  readonly dialect: Dialect;
  readonly operations: readonly Operation[];
}

/** Options of {@link createRouter}. */
export interface RouterOptions {
  readonly authenticator: Pick<Authenticator, 'authenticate'>;
  readonly publicDocuments: Pick<PublicDocuments, 'paths' | 'has' | 'handler'>;
  readonly access: Pick<AccessControl, 'require' | 'visibilityOf'>;
  readonly accounts: Pick<Accounts, 'requireLive'>;
  /** The contract dialect first: it handles all paths without a mount. */
  readonly mounts: readonly [Mount, ...Mount[]];
  /** Origin of the portal, such as `https://portal.example.org`. */
  readonly ownOrigin: string;
  readonly logger: LoggerService;
}

/**
 * Creates the router of the API. It authenticates every request before it
 * matches the path, except for a fixed list of public documents. Backstage's own
 * authentication does not support Kerberos and is disabled for these paths.
 */
export function createRouter(options: RouterOptions): Router {
  const { authenticator, mounts, logger } = options;
  const callers = new WeakMap<Request, Caller>();
  // Path segments are case-sensitive, and a trailing slash is optional.
  const router = PromiseRouter({ caseSensitive: true, strict: false });
  // Public documents, routes and errors must all match the same path.
  router.use((req: Request, _res: Response, next: NextFunction) => {
    req.url = pathBelowMount(req);
    if (dialectAt(req.path, mounts).mergesSlashes) {
      req.url = mergeSlashes(req.url);
    }
    next();
  });
  const { publicDocuments } = options;
  const documents = router.route([...publicDocuments.paths]);
  documents.all((req: Request, _res: Response, next: NextFunction) => {
    next(publicDocuments.has(req) ? undefined : 'route');
  });
  documents.get(publicDocuments.handler());
  rejectOtherMethods(documents, 'GET, HEAD, OPTIONS');
  router.use(async (req, res) => {
    res.setHeader('Cache-Control', 'private, no-cache');
    res.setHeader('Vary', VARY);
    // Else a page of another site could detect which users exist: it embeds a
    // resource, and the browser reports whether that succeeded.
    res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    callers.set(
      req,
      await authenticator.authenticate(req, res).catch(error => {
        throw withRenewalHint(error, req.path);
      }),
    );
    req.url = decodablePath(req.url);
    return 'next';
  });
  for (const { dialect, path, operations } of mounts.flatMap(routesOf)) {
    const template: string = `${dialect.root}/v1${path}`;
    const route = router.route(template);
    route.all((req: Request, _res: Response, next: NextFunction) => {
      const { params } = req;
      const isPath = dialect.isPath({ path: req.path, params, template: path });
      next(isPath ? undefined : new UnknownPathError());
    });
    for (const operation of operations) {
      const readsBody = operation.method !== 'get' || dialect.readQueryBody;
      route[operation.method](
        ...(readsBody ? [readBody] : []),
        (req: Request, res: Response) => {
          const caller = callers.get(req)!;
          return handle(options, { dialect, operation, caller, req, res });
        },
      );
    }
    rejectOtherMethods(route, allowedMethods(operations));
  }
  router.use(() => {
    throw new UnknownPathError();
  });
  router.use(
    presentError({ logger, dialectOf: req => dialectAt(req.path, mounts) }),
  );
  return router;
}

/** Paths of renewals, which 0.2.0 allowed without credentials. */
const RENEWAL = /^\/v1\/certs\/\d+\/renewal(?:\/|$)/;

/** Names the page of the documentation to scripts without credentials. */
function withRenewalHint(error: unknown, path: string): unknown {
  return error instanceof UnauthorizedError && RENEWAL.test(path)
    ? new ApiError(
        error.status,
        { ...error.body, documentation: 'Renew without a person' },
        error.headers,
      )
    : error;
}

/** The paths of a mount, each with its operations. */
function routesOf({ dialect, operations }: Mount) {
  const paths = new Set(operations.map(({ path }) => path));
  return [...paths].map(path => ({
    dialect,
    path,
    operations: operations.filter(operation => operation.path === path),
  }));
}

/** Returns the dialect of a path, even of an unknown one. */
function dialectAt(path: string, mounts: RouterOptions['mounts']): Dialect {
  const [own, ...others] = mounts;
  const mount = others.find(({ dialect: { root } }) =>
    `${path}/`.startsWith(`${root}/`),
  );
  return (mount ?? own).dialect;
}

async function handle(
  options: RouterOptions,
  request: {
    readonly dialect: Dialect;
    readonly operation: Operation;
    readonly caller: Caller;
    readonly req: Request;
    readonly res: Response;
  },
): Promise<void> {
  const { access, accounts, ownOrigin, logger } = options;
  const { dialect, operation, caller, req, res } = request;
  const { headers } = req;
  const isWrite = operation.method !== 'get';
  const isRead = operation.permission === directoryReadPermission;
  try {
    if (operation.permission !== 'handler') {
      await access.require(caller, operation.permission);
    }
    if (isWrite || !isRead) {
      requireSameOrigin({ caller, headers, ownOrigin });
    }
  } catch (error) {
    await operation.recordDenial?.({
      caller,
      error: error as Error,
      params: req.params,
    });
    throw error;
  }
  if (isWrite || !isRead) {
    accounts.requireLive(caller);
  }
  const signal = abortedOnClose(res);
  const query = queryOf(req, dialect);
  const result = await operation.handle({
    caller,
    uri: dialect.uris.at(operation.path, req.params),
    params: req.params,
    query,
    parameters: isWrite
      ? await readParameters({
          headers,
          query,
          queryOverridesForm: dialect.queryOverridesForm,
          body: bodyOf(req),
        })
      : new Map(),
    fieldMask: req.get('x-fields'),
    context: {
      caller,
      signal,
      visible: await access.visibilityOf(caller),
    },
  });
  if (result instanceof FileStream) {
    await sendFile(res, { file: result, logger });
  } else {
    sendJson(res, { body: result, contentType: dialect.contentType });
  }
}

/**
 * Returns a signal that aborts when the client closes the connection before the
 * response ends; already aborted if the connection is closed.
 */
function abortedOnClose(res: Response): AbortSignal {
  const disconnected = new AbortController();
  const abort = () => {
    if (!res.writableFinished) {
      disconnected.abort();
    }
  };
  if (res.closed) {
    abort();
  } else {
    res.once('close', abort);
  }
  return disconnected.signal;
}

/** Without a body, Express sets an empty object. */
function bodyOf(req: Request): Buffer {
  return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
}

/** Parses the query; Express would parse arrays and objects in it. */
function queryOf(req: Request, dialect: Dialect): URLSearchParams {
  const start = req.originalUrl.indexOf('?');
  const query = new URLSearchParams(
    start < 0 ? '' : req.originalUrl.slice(start + 1),
  );
  if (req.method !== 'GET' || !dialect.readQueryBody) {
    return query;
  }
  const { headers } = req;
  return new URLSearchParams([
    ...dialect.readQueryBody({ headers, body: bodyOf(req) }),
    ...query,
  ]);
}

/** Returns `Allow` to OPTIONS, and 405 to methods without a handler. */
function rejectOtherMethods(route: IRoute, allow: string): void {
  route.options((_req: Request, res: Response) => {
    res.status(204).set('Allow', allow).end();
  });
  route.all(() => {
    throw new ApiError(
      405,
      { message: 'The method is not allowed for the requested URL.' },
      { Allow: allow },
    );
  });
}

function allowedMethods(operations: readonly Operation[]): string {
  const methods = operations.map(({ method }) => method.toUpperCase());
  return [
    ...methods,
    ...(methods.includes('GET') ? ['HEAD'] : []),
    'OPTIONS',
  ].join(', ');
}

/**
 * Returns a URL whose path segments can all be decoded. Express responds with
 * 400 to a segment such as `%ff` before it matches a route. When encoded as
 * text, the segment reaches its route, which returns the resource's 404 because
 * the name is invalid.
 */
export function decodablePath(url: string): string {
  if (!url.includes('%')) {
    return url;
  }
  const [path, ...query] = url.split('?');
  const segments = path.split('/').map(segment => {
    try {
      decodeURIComponent(segment);
      return segment;
    } catch {
      return encodeURIComponent(segment);
    }
  });
  return [segments.join('/'), ...query].join('?');
}

/** Scheme and host of a request target in absolute form (RFC 9112 §3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?]*/i;

/**
 * Returns path and query of a request below the mount path, with the slashes
 * that the client sent: Express removes one of several after the mount path.
 */
export function pathBelowMount(
  request: Pick<Request, 'originalUrl' | 'baseUrl' | 'url'>,
): string {
  const path = request.url.replace(ORIGIN, '');
  const isSlashRemoved = request.originalUrl.endsWith(
    `${request.baseUrl}/${path}`,
  );
  return isSlashRemoved ? `/${path}` : path;
}

/** Returns a URL with merged slashes in its path; keeps `%2F`. */
export function mergeSlashes(url: string): string {
  const [path, ...query] = url.split('?');
  return [path.replace(/\/{2,}/g, '/'), ...query].join('?');
}

/**
 * Protects writes and exports against CSRF. A browser performs Kerberos
 * authentication automatically for pages of any site, and sends headers that
 * name the site. API clients such as curl do not send these headers. Portal
 * tokens are never sent automatically.
 *
 * @throws ForbiddenError when the headers name another site.
 */
function requireSameOrigin(options: {
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  /** Origin of the portal, such as `https://portal.example.org`. */
  readonly ownOrigin: string;
}): void {
  const { caller, headers, ownOrigin } = options;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn =
    (origin === undefined || origin === ownOrigin) &&
    // `none`: the user entered the address or opened a bookmark.
    (site === undefined || site === 'same-origin' || site === 'none');
  if (caller.kind === 'kerberos' && !isOwn) {
    throw new ForbiddenError({
      message: 'Cross-site requests are not allowed.',
    });
  }
}
