import type { LoggerService } from '@backstage/backend-plugin-api';
import type {
  CertificateAuthority,
  EndingCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  describeCertificate,
  type CertificateDescription,
} from '@directory-gateway/x509';
import type { Accounts } from '../../directory/Accounts';
import type { PortalUserNames } from '../../directory/PortalUserNames';
import { judgePrincipal } from '../judgeRequester';
import { composeReminder } from './composeReminder';
import { DAY_MS, findDueReminder, type Reminder } from './reminder';
import { findRenewal } from './findRenewal';
import type { PortalNotifications } from './PortalNotifications';
import type { ReminderLedger } from './ReminderLedger';
import { ReminderMetrics } from './ReminderMetrics';
import type { RemindersConfig } from '../RemindersConfig';

/** What {@link ExpiryReminders} are made of. */
export interface ExpiryRemindersOptions {
  readonly authority: Pick<CertificateAuthority, 'get' | 'listEnding'>;
  readonly config: RemindersConfig;
  readonly ledger: ReminderLedger;
  readonly logger: LoggerService;
  readonly notifications: PortalNotifications;
  readonly portalUserNames: Pick<PortalUserNames, 'entityRefsOf'>;
  readonly accounts: Pick<Accounts, 'findLive'>;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
}

/**
 * Tells users through the portal's notifications that a certificate of theirs
 * ends: one message for a certificate and a step, whichever process looks. Not
 * told are users out of use, users whom the portal does not know, of what is
 * revoked, and of what they have renewed.
 */
export class ExpiryReminders {
  readonly #options: ExpiryRemindersOptions;
  readonly #metrics = new ReminderMetrics();
  readonly #now: () => number;
  #hasSaidThatNothingIsSent = false;

  constructor(options: ExpiryRemindersOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Sends what is due. What fails is tried again by the next run, and does not
   * keep the rest from being sent; the log has one line about all of it.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { config, authority, ledger, logger, notifications } = this.#options;
    if (!(await notifications.areInstalled())) {
      this.#sayThatNothingIsSent();
      return;
    }
    const now = this.#now();
    const ending = await authority.listEnding?.({
      from: new Date(now),
      before: new Date(now + Math.max(...config.daysBefore) * DAY_MS + 1),
    });
    const failures = new Array<unknown>();
    for (const certificate of ending ?? []) {
      if (signal.aborted) {
        return;
      }
      await this.#remindOf(certificate, signal).catch(error =>
        failures.push(error),
      );
    }
    if (failures.length > 0) {
      logger.warn(
        `Reminders of certificates that end wait for the next run, ${failures.length} of them, the first because of ${failures[0]}`,
      );
    }
    await ledger.forget(new Date(now));
  }

  async #remindOf(
    certificate: EndingCertificate,
    signal: AbortSignal,
  ): Promise<void> {
    const { config, ledger } = this.#options;
    const reminder = findDueReminder(certificate, {
      now: this.#now(),
      daysBefore: config.daysBefore,
    });
    if (!reminder || (await ledger.isSent(reminder))) {
      return;
    }
    const described = await this.#inNeedOfRenewal(certificate, signal);
    const recipients = described
      ? await this.#options.portalUserNames.entityRefsOf(certificate.username)
      : [];
    if (described && recipients.length > 0) {
      await this.#send({ reminder, described, recipients });
    }
  }

  /** The certificate, when its owner should get another and can. */
  async #inNeedOfRenewal(
    certificate: EndingCertificate,
    signal: AbortSignal,
  ): Promise<CertificateDescription | undefined> {
    const { accounts, authority } = this.#options;
    const { serialNumber, username } = certificate;
    const owner = await accounts.findLive({ username }, { signal });
    const issued = judgePrincipal(owner).passed
      ? await authority.get(serialNumber)
      : undefined;
    const read =
      issued && !issued.revocation && describeCertificate(issued.certificate);
    if (!read || !read.ok) {
      return undefined;
    }
    const described = read.certificate;
    const now = this.#now();
    const search = { certificate, described, authority, now };
    return (await findRenewal(search)) ? undefined : described;
  }

  async #send(options: {
    readonly reminder: Reminder;
    readonly described: CertificateDescription;
    readonly recipients: readonly string[];
  }): Promise<void> {
    const { ledger, notifications } = this.#options;
    const claim = await ledger.claim(options.reminder, new Date(this.#now()));
    if (!claim) {
      return;
    }
    try {
      const message = composeReminder({ ...options, now: this.#now() });
      await notifications.send(message);
    } catch (error) {
      this.#metrics.count('failed');
      await ledger.release(claim);
      throw error;
    }
    this.#metrics.count('sent');
    await ledger.settle(claim, new Date(this.#now()));
  }

  #sayThatNothingIsSent(): void {
    if (!this.#hasSaidThatNothingIsSent) {
      this.#hasSaidThatNothingIsSent = true;
      this.#options.logger.info(
        'Nobody is reminded of the end of certificates: the notifications plugin is not installed',
      );
    }
  }
}
