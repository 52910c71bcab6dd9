import type { AuditorService } from '@backstage/backend-plugin-api';
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
  approve(count: number, caller: Caller): Promise<Date> {
    return this.#audit.run(caller, { count }, () =>
      this.#records.approve({ count, approvedBy: actorOf(caller) }),
    );
  }

  /** Audits that a caller may not approve holds. */
  recordDenial(denied: {
    readonly caller: Caller;
    readonly error: Error;
  }): Promise<void> {
    return this.#audit.recordDenial(denied.caller, denied.error);
  }
}
