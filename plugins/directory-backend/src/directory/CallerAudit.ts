import type {
  AuditorService,
  AuditorServiceEvent,
} from '@backstage/backend-plugin-api';
import { auditedCaller, type Caller } from './Caller';

/** More of a value is not recorded. */
const LONGEST_VALUE = 256;

/** What an event records besides the caller. */
type AuditMeta = Readonly<Record<string, string | number | null>>;

/**
 * Writes one kind of audit event, each with the caller, the type of credential
 * and the client's address. The request itself is not handed over, because its
 * URL may contain a certificate request.
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

  /** Records that a caller begins something; the result says how it ended. */
  async start(
    caller: Caller,
    meta: AuditMeta = {},
  ): Promise<AuditorServiceEvent> {
    const event = await this.#auditor.createEvent({
      ...this.#kind,
      meta: truncated({ ...auditedCaller(caller), ...meta }),
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

  /** Records that a caller may not do this. */
  async refuse(caller: Caller, error: Error, meta?: AuditMeta): Promise<void> {
    const event = await this.start(caller, meta);
    // The stack of a refusal would only lengthen the log.
    await event.fail({ error: Object.assign(error, { stack: undefined }) });
  }
}

function truncated(
  meta: AuditMeta = {},
): Record<string, string | number | null> {
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.slice(0, LONGEST_VALUE) : value,
    ]),
  );
}
