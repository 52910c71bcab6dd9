import { ConflictError } from '@backstage/errors';
import type {
  DirectoryPublicDocumentsExtensionPoint,
  PublicDocument,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { RequestHandler } from 'express';

/**
 * The exact list of what needs no login. Everything else meets the
 * authentication first: there are no patterns and no prefixes here.
 */
export class PublicDocuments implements DirectoryPublicDocumentsExtensionPoint {
  readonly #byPath = new Map<string, PublicDocument>();

  addPublicDocument(document: PublicDocument): void {
    if (this.#byPath.has(document.path)) {
      throw new ConflictError(`A document at ${document.path} is there`);
    }
    this.#byPath.set(document.path, document);
  }

  /** Answers GET and HEAD of a listed path, and leaves the rest alone. */
  handler(): RequestHandler {
    return (req, res, next) => {
      const document = this.#byPath.get(req.path.replace(/\/$/, ''));
      if (!document || !['GET', 'HEAD'].includes(req.method)) {
        next();
        return;
      }
      document.read().then(content => {
        res.type(document.contentType).send(content);
      }, next);
    };
  }
}
