import { ConflictError } from '@backstage/errors';
import type {
  DirectoryPublicDocumentsExtensionPoint,
  PublicDocument,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Request, RequestHandler, Response } from 'express';

/** Handles a GET without authentication; Express omits the body for HEAD. */
type PublicHandler = (req: Request, res: Response) => Promise<void>;

/**
 * The documents that need no authentication, by exact path: there are no
 * patterns and no prefixes.
 */
export class PublicDocuments implements DirectoryPublicDocumentsExtensionPoint {
  readonly #byPath = new Map<string, PublicHandler>();

  /** Adds a document that is read at most once per second. */
  addPublicDocument(document: PublicDocument): void {
    const read = shareForOneSecond(() => document.read());
    this.addHandler(document.path, async (_req, res) => {
      res.type(document.contentType).send(await read());
    });
  }

  /**
   * Adds a handler for a path.
   *
   * @throws ConflictError when the path has a handler.
   */
  addHandler(path: string, handler: PublicHandler): void {
    if (this.#byPath.has(path)) {
      throw new ConflictError(`There is already a document at ${path}`);
    }
    this.#byPath.set(path, handler);
  }

  /** All paths, for a route. */
  get paths(): readonly string[] {
    return [...this.#byPath.keys()].map(path => path || '/');
  }

  /** Handles GET requests of {@link paths}. */
  handler(): RequestHandler {
    return (req, res, next) => {
      const handle = this.#byPath.get(req.path.replace(/\/$/, ''));
      if (handle) {
        handle(req, res).catch(next);
      } else {
        next();
      }
    };
  }
}

/** Milliseconds for which a result is shared. */
const SHARED_MS = 1000;

/**
 * Wraps a read that anybody can trigger: calls while it is pending, and for a
 * second after it, share its result or error.
 */
function shareForOneSecond<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  let expiresAt = Infinity;
  return () => {
    if (!last || performance.now() >= expiresAt) {
      const markDone = () => {
        expiresAt = performance.now() + SHARED_MS;
      };
      expiresAt = Infinity;
      last = read();
      last.then(markDone, markDone);
    }
    return last;
  };
}
