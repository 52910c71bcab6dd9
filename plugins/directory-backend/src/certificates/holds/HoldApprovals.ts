import type { AuditorService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import { actorOf, type Caller } from '../../directory/Caller';
import { CallerAudit } from '../../directory/CallerAudit';
import type { HoldRecords } from './HoldRecords';

/**
 * Approves holds above the limit for authorized callers. Audits every attempt.
 */
export class HoldApprovals {
  readonly #audit: CallerAudit;
  readonly #records: Pick<HoldRecords, 'approve'>;

  constructor(options: {
    readonly auditor: AuditorService;
    readonly records: Pick<HoldRecords, 'approve'>;
  }) {
    this.#records = options.records;
    this.#audit = new CallerAudit(options.auditor, {
      eventId: 'certificate-holds-approve',
      severityLevel: 'high',
    });
  }

  /**
   * Approves the holds of the users that are waiting.
   *
   * @returns the expiry of the approval
   * @throws InputError when `count` is not the number of waiting users.
   */
  async approve(count: number, caller: Caller): Promise<Date> {
    const event = await this.#audit.start(caller, { count });
    try {
      const expiresAt = await this.#records.approve({
        count,
        approvedBy: actorOf(caller),
      });
      await event.success();
      return expiresAt;
    } catch (error) {
      await event.fail({ error: toError(error) });
      throw error;
    }
  }

  /** Audits that a caller may not approve holds. */
  recordDenial(denied: {
    readonly caller: Caller;
    readonly error: Error;
  }): Promise<void> {
    return this.#audit.recordDenial(denied.caller, denied.error);
  }
}
