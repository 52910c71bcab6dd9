import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Response } from 'express';
import { FASJSON_ROOT } from '../dialect/fasjsonDialect';
import type { PublicDocuments } from '../PublicDocuments';
import { sendJson } from '../response/JsonText';

/** Longer than a directory takes that is well. */
const PATIENCE_MS = 5000;

/**
 * Serves the probes of the reference: `live` as long as there is an answer,
 * `ready` when the directory gives one.
 */
export function publishHealth(
  documents: PublicDocuments,
  options: {
    /** Rejects when the directory cannot be asked. */
    readonly askDirectory: (asking: {
      readonly signal: AbortSignal;
    }) => Promise<unknown>;
    readonly logger: LoggerService;
  },
): void {
  documents.addHandler(`${FASJSON_ROOT}/healthz/live`, async (_req, res) =>
    answer(res, { status: 200, title: 'OK' }),
  );
  documents.addHandler(`${FASJSON_ROOT}/healthz/ready`, async (_req, res) => {
    try {
      await options.askDirectory({ signal: AbortSignal.timeout(PATIENCE_MS) });
      answer(res, { status: 200, title: 'OK' });
    } catch (error) {
      options.logger.warn(`Not ready: ${error}`);
      answer(res, { status: 503, title: 'LDAP server is down' });
    }
  });
}

/** Sends problem details (RFC 9457), as flask-healthz does. */
function answer(
  res: Response,
  problem: { readonly status: number; readonly title: string },
): void {
  res.status(problem.status).set('Cache-Control', 'no-store');
  sendJson(res, { body: problem, contentType: 'application/problem+json' });
}
