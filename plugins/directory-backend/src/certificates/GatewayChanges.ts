import type { AuditorService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import { CertificateNotFoundError } from './errors';
import type { CertificateKey } from './records/certificateRows';

/** Actor of changes that no caller has requested. */
export const ACTOR = 'directory-gateway';

/** Time until the next attempt if the CA does not find the certificate. */
const NOT_FOUND_MS = 60 * 60_000;

type Change = 'hold' | 'release' | 'revoke';

/**
 * Audits changes that no caller has requested: the success, and only the first
 * of several failures.
 */
export class GatewayChanges {
  readonly #auditor: AuditorService;
  readonly #now: () => number;
  /** The earliest time of the next attempt, for changes that have failed. */
  readonly #failed = new Map<string, number>();

  /** @param options - `now`: default: the system clock */
  constructor(options: {
    readonly auditor: AuditorService;
    readonly now?: () => number;
  }) {
    this.#auditor = options.auditor;
    this.#now = options.now ?? Date.now;
  }

  /** Whether a change waits, because the CA did not find the certificate. */
  isWaiting(change: Change, certificate: CertificateKey): boolean {
    const next = this.#failed.get(keyOf(change, certificate));
    return next !== undefined && this.#now() < next;
  }

  /** Makes a change and audits it. */
  async run<T>(
    change: Change,
    certificate: CertificateKey,
    options: {
      /** Added to the audit event. */
      readonly meta: Record<string, string>;
      readonly work: () => Promise<T>;
    },
  ): Promise<T> {
    const key = keyOf(change, certificate);
    const start = () =>
      this.#auditor.createEvent({
        eventId: `certificate-${change}`,
        severityLevel: 'medium',
        meta: {
          actor: ACTOR,
          serialNumber: String(certificate.serialNumber),
          ...options.meta,
        },
      });
    const event = this.#failed.has(key) ? undefined : await start();
    try {
      const result = await options.work();
      await (event ?? (await start())).success();
      this.#failed.delete(key);
      return result;
    } catch (error) {
      const isNotFound = error instanceof CertificateNotFoundError;
      this.#failed.set(key, this.#now() + (isNotFound ? NOT_FOUND_MS : 0));
      await event?.fail({ error: toError(error) });
      throw error;
    }
  }
}

function keyOf(
  change: Change,
  { authority, serialNumber }: CertificateKey,
): string {
  return `${change} ${authority} ${serialNumber}`;
}
