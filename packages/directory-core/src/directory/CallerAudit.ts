import type {
  AuditorService,
  AuditorServiceEvent,
} from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import { auditFields, type Caller } from './Caller';

/** Longer values are truncated. */
const MAX_VALUE_LENGTH = 256;

/** Fields of an event in addition to those of the caller. */
type AuditMeta = Readonly<Record<string, string | number | null>>;

/**
 * Writes one kind of audit event, with the caller, the type of credential and
 * the client's address. The request is not passed to the auditor, because its
 * URL may contain a CSR.
 */
export class CallerAudit {
  readonly #auditor: AuditorService;
  readonly #kind: {
    readonly eventId: string;
    readonly severityLevel: 'medium' | 'high';
  };

  constructor(
    auditor: AuditorService,
    kind: {
      readonly eventId: string;
      readonly severityLevel: 'medium' | 'high';
    },
  ) {
    this.#auditor = auditor;
    this.#kind = kind;
  }

  /** Records the start of an operation; the result records its end. */
  async start(
    caller: Caller,
    meta: AuditMeta = {},
  ): Promise<AuditorServiceEvent> {
    const event = await this.#auditor.createEvent({
      ...this.#kind,
      meta: truncated({ ...auditFields(caller), ...meta }),
    });
    return {
      success: async options =>
        event.success({ meta: truncated(options?.meta as AuditMeta) }),
      async fail(options) {
        // The auditor spreads an error over the event: its `status` would
        // replace the event's.
        const { name, message, stack } = options.error;
        await event.fail({
          meta: truncated(options.meta as AuditMeta),
          error: Object.assign(new Error(message), { name, stack }),
        });
      },
    };
  }

  /** Runs an operation, and records its start and whether it succeeded. */
  async run<T>(
    caller: Caller,
    meta: AuditMeta,
    work: () => Promise<T>,
  ): Promise<T> {
    const event = await this.start(caller, meta);
    try {
      const result = await work();
      await event.success();
      return result;
    } catch (error) {
      await event.fail({ error: toError(error) });
      throw error;
    }
  }

  /** Records that the caller lacks the permission. */
  async recordDenial(
    caller: Caller,
    error: Error,
    meta?: AuditMeta,
  ): Promise<void> {
    const event = await this.start(caller, meta);
    // The cause of a denial is known: its stack is not useful in the log.
    await event.fail({ error: Object.assign(error, { stack: undefined }) });
  }
}

function truncated(
  meta: AuditMeta = {},
): Record<string, string | number | null> {
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.slice(0, MAX_VALUE_LENGTH) : value,
    ]),
  );
}
