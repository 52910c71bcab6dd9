import { ConflictError } from '@backstage/errors';
import type {
  DirectoryPublicDocumentsExtensionPoint,
  PublicDocument,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Request, RequestHandler, Response } from 'express';

/** Answers a GET that needs no login; Express leaves the body away for HEAD. */
export type PublicHandler = (req: Request, res: Response) => Promise<void>;

/**
 * The exact list of what needs no login. Everything else meets the
 * authentication first: there are no patterns and no prefixes here.
 */
export class PublicDocuments implements DirectoryPublicDocumentsExtensionPoint {
  readonly #byPath = new Map<string, PublicHandler>();

  /** Adds a document that is read at most once per second. */
  addPublicDocument(document: PublicDocument): void {
    const read = oncePerSecond(() => document.read());
    this.addHandler(document.path, async (_req, res) => {
      res.type(document.contentType).send(await read());
    });
  }

  /**
   * Adds what is more than a document, at exactly this path.
   *
   * @throws ConflictError when the path is taken.
   */
  addHandler(path: string, handler: PublicHandler): void {
    if (this.#byPath.has(path)) {
      throw new ConflictError(`A document at ${path} is there`);
    }
    this.#byPath.set(path, handler);
  }

  /** The listed paths, for one route. */
  get paths(): readonly string[] {
    return [...this.#byPath.keys()].map(path => path || '/');
  }

  /** Serves the document of a listed path, for a GET route of {@link paths}. */
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
 * Wraps a read for callers without credentials: calls while it is pending and
 * for a second after it share its result or error.
 */
export function oncePerSecond<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  let expiresAt = Infinity;
  return () => {
    if (!last || performance.now() >= expiresAt) {
      const settle = () => {
        expiresAt = performance.now() + SHARED_MS;
      };
      expiresAt = Infinity;
      last = read();
      last.then(settle, settle);
    }
    return last;
  };
}
