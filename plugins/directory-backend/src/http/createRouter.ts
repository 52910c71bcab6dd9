import type { LoggerService } from '@backstage/backend-plugin-api';
import { raw, Router, type Request, type Response } from 'express';
import PromiseRouter from 'express-promise-router';
import type { Caller } from '../directory/Caller';
import type { AccessControl } from './access';
import type { Authenticator } from './authenticate';
import type { Operation } from './Call';
import type { PublicDocuments } from './PublicDocuments';
import { decodablePath } from './request/decodablePath';
import { readParameters } from './request/readParameters';
import { requireSameOrigin } from './requireSameOrigin';
import {
  MethodNotAllowedError,
  ResourceNotFoundError,
} from './response/apiErrors';
import { FileStream } from './response/FileStream';
import { presentError } from './response/presentError';
import { sendFile } from './response/sendFile';

/** Who asks, and which fields, decide what is answered at one address. */
const VARY = 'Authorization, X-Fields';

/** The whole body of a write, of any type, 64 KiB at most. */
const readBody = raw({ type: () => true, limit: 64 * 1024 });

/** What the router is made of. */
export interface RouterOptions {
  readonly authenticator: Authenticator;
  readonly publicDocuments: PublicDocuments;
  readonly access: AccessControl;
  readonly operations: readonly Operation[];
  /** The portal's own origin, for example `https://portal.example.org`. */
  readonly ownOrigin: string;
  readonly logger: LoggerService;
}

/**
 * The API's HTTP side. But for an exact list of public documents, every
 * request is authenticated before its path is looked at: the framework's own
 * gate is open for this plugin, because it does not know tickets.
 */
export function createRouter(options: RouterOptions): Router {
  const { authenticator, operations, logger } = options;
  const callers = new WeakMap<Request, Caller>();
  // Path segments are case-sensitive; a trailing slash may be there or not.
  const router = PromiseRouter({ caseSensitive: true, strict: false });
  router.use(options.publicDocuments.handler());
  router.use(async (req, res) => {
    res.set({ 'Cache-Control': 'private, no-cache', Vary: VARY });
    callers.set(req, await authenticator.authenticate(req, res));
    req.url = decodablePath(req.url);
    return 'next';
  });
  for (const path of new Set(operations.map(operation => operation.path))) {
    const here = operations.filter(operation => operation.path === path);
    const route = router.route(`/v1${path}`);
    for (const operation of here) {
      route[operation.method](
        ...(operation.method === 'post' ? [readBody] : []),
        (req: Request, res: Response) =>
          answer({
            ...options,
            operation,
            caller: callers.get(req)!,
            req,
            res,
          }),
      );
    }
    const allow = allowedMethods(here);
    route.options((_req: Request, res: Response) => {
      res.status(204).set('Allow', allow).end();
    });
    route.all(() => {
      throw new MethodNotAllowedError(allow);
    });
  }
  router.use(() => {
    throw new ResourceNotFoundError({
      message: 'The requested URL was not found on the server.',
    });
  });
  router.use(presentError({ logger }));
  return router;
}

async function answer(
  options: RouterOptions & {
    readonly operation: Operation;
    readonly caller: Caller;
    readonly req: Request;
    readonly res: Response;
  },
): Promise<void> {
  const { operation, caller, req, res, logger } = options;
  const { headers } = req;
  const isWrite = operation.method === 'post';
  try {
    await options.access.require(caller, operation.permission);
    if (isWrite) {
      requireSameOrigin({ caller, headers, ownOrigin: options.ownOrigin });
    }
  } catch (error) {
    await operation.recordRefusal?.(caller, error as Error);
    throw error;
  }
  const gone = new AbortController();
  res.once('close', () => {
    // Nothing is left to be ended for those who have got their answer.
    if (!res.writableFinished) {
      gone.abort();
    }
  });
  const query = queryOf(req);
  const body = await operation.handle({
    caller,
    params: req.params,
    query,
    parameters: isWrite
      ? readParameters({ headers, query, body: bodyOf(req) })
      : new Map(),
    fieldMask: req.get('x-fields'),
    context: { caller, signal: gone.signal },
  });
  if (body instanceof FileStream) {
    await sendFile(res, { file: body, logger });
  } else {
    res.json(body);
  }
}

/** Express leaves an object where a request has no body. */
function bodyOf(req: Request): Buffer {
  return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
}

/** Express reads arrays and objects into a query; the contract has neither. */
function queryOf(req: Request): URLSearchParams {
  const start = req.originalUrl.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : req.originalUrl.slice(start + 1));
}

function allowedMethods(operations: readonly Operation[]): string {
  const methods = operations.map(({ method }) => method.toUpperCase());
  return [
    ...methods,
    ...(methods.includes('GET') ? ['HEAD'] : []),
    'OPTIONS',
  ].join(', ');
}
