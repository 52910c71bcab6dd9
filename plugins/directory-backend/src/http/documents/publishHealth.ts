import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Response } from 'express';
import { FASJSON_ROOT } from '../dialect/fasjsonDialect';
import type { PublicDocuments } from '../PublicDocuments';
import { sendJson } from '../response/JsonText';
import { oncePerSecond } from './oncePerSecond';

/** Milliseconds after which a directory that has not responded is down. */
const TIMEOUT_MS = 5000;

/**
 * Serves the health checks of FASJSON: `live` always succeeds, `ready` succeeds
 * while the directory responds. All callers together send it one search per
 * second at most.
 */
export function publishHealth(
  documents: PublicDocuments,
  options: {
    /** Rejects when the directory cannot be read. */
    readonly askDirectory: (asking: {
      readonly signal: AbortSignal;
    }) => Promise<unknown>;
    readonly logger: LoggerService;
  },
): void {
  const isReady = oncePerSecond(async () => {
    try {
      await options.askDirectory({ signal: AbortSignal.timeout(TIMEOUT_MS) });
      return true;
    } catch (error) {
      options.logger.warn(`Not ready: ${error}`);
      return false;
    }
  });
  documents.addHandler(`${FASJSON_ROOT}/healthz/live`, async (_req, res) =>
    answer(res, { status: 200, title: 'OK' }),
  );
  documents.addHandler(`${FASJSON_ROOT}/healthz/ready`, async (_req, res) =>
    answer(
      res,
      (await isReady())
        ? { status: 200, title: 'OK' }
        : { status: 503, title: 'LDAP server is down' },
    ),
  );
}

/** Sends problem details (RFC 9457), as flask-healthz does. */
function answer(
  res: Response,
  problem: { readonly status: number; readonly title: string },
): void {
  res.status(problem.status).set('Cache-Control', 'no-store');
  sendJson(res, { body: problem, contentType: 'application/problem+json' });
}
