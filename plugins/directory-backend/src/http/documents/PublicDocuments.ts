import { ConflictError } from '@backstage/errors';
import type {
  DirectoryPublicDocumentsExtensionPoint,
  PublicDocument,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Request, RequestHandler, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { UnknownPathError } from '../../apiErrors';

/** Handles a GET without authentication; Express omits the body for HEAD. */
type PublicHandler = (
  req: Request,
  res: Response,
  parameter: string,
) => Promise<void>;

/**
 * Public documents, which do not require authentication. Paths must match
 * exactly; a parameter is one segment of letters and digits.
 */
export class PublicDocuments implements DirectoryPublicDocumentsExtensionPoint {
  readonly #byPath = new Map<
    string,
    { readonly pattern: RegExp; readonly handle: PublicHandler }
  >();

  /** Adds a document that is read at most once per second. */
  addPublicDocument(document: PublicDocument): void {
    const read = shareForOneSecond(parameter => document.read(parameter));
    this.addHandler(document.path, async (_req, res, parameter) => {
      const found = await read(parameter);
      if (!found) {
        throw new UnknownPathError();
      }
      res.type(document.contentType).send(found);
    });
  }

  /**
   * Adds a handler for a path.
   *
   * @throws ConflictError when the path already has a handler.
   */
  addHandler(path: string, handle: PublicHandler): void {
    if (this.#byPath.has(path)) {
      throw new ConflictError(`There is already a document at ${path}`);
    }
    this.#byPath.set(path, { pattern: patternOf(path), handle });
  }

  /** All paths, in Express's syntax. */
  get paths(): readonly string[] {
    return [...this.#byPath.keys()].map(path => path || '/');
  }

  /** Returns whether a document has the path of a request. */
  has(req: Pick<Request, 'path'>): boolean {
    return this.#find(req) !== undefined;
  }

  /** Handles GET requests for {@link paths}, or passes them to other routes. */
  handler(): RequestHandler {
    return (req, res, next) => {
      const found = this.#find(req);
      if (found) {
        found.handle(req, res, found.parameter).catch(next);
      } else {
        next('route');
      }
    };
  }

  #find({ path }: Pick<Request, 'path'>) {
    for (const { pattern, handle } of this.#byPath.values()) {
      const [match, parameter = ''] =
        pattern.exec(path.replace(/\/$/, '')) ?? [];
      if (match !== undefined) {
        return { handle, parameter };
      }
    }
    return undefined;
  }
}

/**
 * Returns a pattern that matches a path. The parameter matches letters and
 * digits.
 */
function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[a-z]+/, '([A-Za-z0-9]+)')}$`);
}

/** Milliseconds for which a result is shared. */
const SHARED_MS = 1000;

/** Maximum number of parameters whose results are shared. */
const MAX_SHARED = 100;

/**
 * Limits a read that unauthenticated clients can trigger: calls while it is
 * pending, and within one second after it, share its result or error.
 */
function shareForOneSecond<T>(
  read: (parameter: string) => Promise<T | undefined>,
): (parameter: string) => Promise<T | undefined> {
  const shared = new LRUCache<string, () => T | undefined>({
    max: MAX_SHARED,
    ttl: SHARED_MS,
    // Else a time that was read before, up to a turn of the event loop ago, is used.
    ttlResolution: 0,
    // Else reads that are evicted while they are pending would fail.
    ignoreFetchAbort: true,
    fetchMethod: async parameter => {
      try {
        const found = await read(parameter);
        return () => found;
      } catch (error) {
        return () => {
          throw error;
        };
      }
    },
  });
  return async parameter => (await shared.fetch(parameter))!();
}
