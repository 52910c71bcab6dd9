import type { Response } from 'express';
import type {
  ReplicaStatus,
  SuspensionReason,
} from '@directory-gateway/directory-core';
import type { PublicDocuments } from './PublicDocuments';
import { sendJson } from '../response/json';

const SUSPENSIONS: Readonly<Record<SuspensionReason, string>> = {
  credentials: 'credentials refused',
  accessCheck: 'access check failed',
  quarantine: 'mass deletion',
  database: 'database unavailable',
};

/**
 * Serves health checks below a root: `healthz/live` always succeeds,
 * `healthz/ready` succeeds while the replica may be read.
 */
export function publishHealth(
  documents: PublicDocuments,
  options: {
    /** Path in front of `/healthz`. */
    readonly root: string;
    readonly replica: { readonly status: ReplicaStatus };
    /** Title of every failure. The default depends on the status. */
    readonly unhealthyTitle?: string;
  },
): void {
  const { root, replica, unhealthyTitle } = options;
  documents.addHandler(`${root}/healthz/live`, async (_req, res) =>
    sendProblem(res, { status: 200, title: 'OK' }),
  );
  documents.addHandler(`${root}/healthz/ready`, async (_req, res) => {
    const failure = failureOf(replica.status);
    sendProblem(
      res,
      failure === undefined
        ? { status: 200, title: 'OK' }
        : { status: 503, title: unhealthyTitle ?? failure },
    );
  });
}

function failureOf(status: ReplicaStatus): string | undefined {
  switch (status.kind) {
    case 'serving':
      return undefined;
    case 'starting':
      return 'First sync has not finished';
    case 'stale':
      return 'Directory data is too old';
    default:
      return `Reads are suspended: ${SUSPENSIONS[status.reason]}`;
  }
}

/** Sends problem details (RFC 9457), as flask-healthz does. */
function sendProblem(
  res: Response,
  problem: { readonly status: number; readonly title: string },
): void {
  res.status(problem.status).set('Cache-Control', 'no-store');
  sendJson(res, { body: problem, contentType: 'application/problem+json' });
}
