import type {
  DiscoveryService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type { NotificationService } from '@backstage/plugin-notifications-node';
import type {
  CertificateAuthority,
  ExpiringCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { CertificateDescription } from '@directory-gateway/x509';
import { metrics } from '@opentelemetry/api';
import type { Accounts } from '../../directory/Accounts';
import type { PortalUserNames } from '../../directory/PortalUserNames';
import type { RemindersConfig } from '../CertificatesConfig';
import { checkPrincipal } from '../signingRules';
import {
  DAY_MS,
  type Reminder,
  composeReminder,
  findDueReminder,
} from './reminder';
import type { ReminderLedger } from './ReminderLedger';

/** Options of {@link ExpiryReminders}. */
export interface ExpiryRemindersOptions {
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly authority: Pick<CertificateAuthority, 'get' | 'listExpiring'>;
  readonly config: RemindersConfig;
  readonly discovery: DiscoveryService;
  readonly ledger: ReminderLedger;
  readonly logger: LoggerService;
  readonly notifications: NotificationService;
  readonly portalUserNames: Pick<PortalUserNames, 'entityRefsOf'>;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Notifies users whose certificates are about to expire, once per reminder
 * across all processes. Omits locked, expired and unmapped users, and revoked
 * or renewed certificates.
 */
export class ExpiryReminders {
  readonly #options: ExpiryRemindersOptions;
  readonly #reminders = metrics
    .getMeter('directory')
    .createCounter('directory.certificate.reminders', {
      description: 'Expiry reminders for certificates',
    });
  readonly #now: () => number;
  #hasLoggedDisabled = false;

  constructor(options: ExpiryRemindersOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Sends the reminders that are due. Failed reminders are retried in the next
   * run; a single line is logged for all of them.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { config, authority, ledger, logger } = this.#options;
    if (!(await this.#isNotificationsInstalled())) {
      if (!this.#hasLoggedDisabled) {
        this.#hasLoggedDisabled = true;
        logger.info(
          'Certificate expiry reminders are disabled: the notifications plugin is not installed',
        );
      }
      return;
    }
    const now = this.#now();
    const expiring = await authority.listExpiring?.({
      from: new Date(now),
      before: new Date(now + Math.max(...config.daysBefore) * DAY_MS + 1),
    });
    const errors = new Array<unknown>();
    for (const certificate of expiring ?? []) {
      if (signal.aborted) {
        return;
      }
      await this.#remind(certificate, signal).catch(error =>
        errors.push(error),
      );
    }
    if (errors.length > 0) {
      logger.warn(
        `${errors.length} certificate expiry reminders failed and are retried in the next run; first error: ${errors[0]}`,
      );
    }
    await ledger.removeExpired(new Date(now));
  }

  /** Checks for the plugin; without it, the backend responds with 404. */
  async #isNotificationsInstalled(): Promise<boolean> {
    const baseUrl = await this.#options.discovery.getBaseUrl('notifications');
    const response = await fetch(baseUrl, { method: 'HEAD' });
    return response.status !== 404;
  }

  async #remind(
    certificate: ExpiringCertificate,
    signal: AbortSignal,
  ): Promise<void> {
    const { config, ledger, portalUserNames } = this.#options;
    const reminder = findDueReminder(certificate, {
      now: this.#now(),
      daysBefore: config.daysBefore,
    });
    if (!reminder || (await ledger.isSent(reminder))) {
      return;
    }
    const description = await this.#describeUnlessRenewed(certificate, signal);
    const recipients = description
      ? await portalUserNames.entityRefsOf(certificate.username)
      : [];
    if (description && recipients.length > 0) {
      await this.#send({ reminder, description, recipients });
    }
  }

  /**
   * Describes a certificate that its owner must and can renew; otherwise
   * returns `undefined`.
   */
  async #describeUnlessRenewed(
    certificate: ExpiringCertificate,
    signal: AbortSignal,
  ): Promise<CertificateDescription | undefined> {
    const { username } = certificate;
    const owner = await this.#options.accounts.findLive(
      { username },
      { signal },
    );
    if (!checkPrincipal(owner).passed) {
      return undefined;
    }
    const description = await this.#describe(certificate);
    return description && !(await this.#isRenewed(certificate, description))
      ? description
      : undefined;
  }

  /**
   * Returns whether the user has another certificate of the same kind that is
   * already valid and expires later. A certificate does not contain its
   * profile, so the subject and the key purposes are compared.
   */
  async #isRenewed(
    { notAfter, username }: ExpiringCertificate,
    description: CertificateDescription,
  ): Promise<boolean> {
    const later = await this.#options.authority.listExpiring?.({
      from: new Date(notAfter.getTime() + 1),
      username,
    });
    for (const other of later ?? []) {
      const described =
        other.notBefore.getTime() <= this.#now()
          ? await this.#describe(other)
          : undefined;
      if (
        described?.subject === description.subject &&
        purposesOf(described) === purposesOf(description)
      ) {
        return true;
      }
    }
    return false;
  }

  /** Returns `undefined` when the certificate is revoked or cannot be read. */
  async #describe({
    serialNumber,
  }: ExpiringCertificate): Promise<CertificateDescription | undefined> {
    const issued = await this.#options.authority.get(serialNumber);
    const description = issued?.certificate.description;
    return description?.ok && !issued?.revocation
      ? description.certificate
      : undefined;
  }

  async #send(options: {
    readonly reminder: Reminder;
    readonly description: CertificateDescription;
    readonly recipients: readonly string[];
  }): Promise<void> {
    const { ledger, notifications } = this.#options;
    const claim = await ledger.claim(options.reminder, new Date(this.#now()));
    if (!claim) {
      return;
    }
    try {
      await notifications.send(
        composeReminder({ ...options, now: this.#now() }),
      );
    } catch (error) {
      this.#reminders.add(1, { outcome: 'failed' });
      await ledger.release(claim);
      throw error;
    }
    this.#reminders.add(1, { outcome: 'sent' });
    await ledger.markSent(claim, new Date(this.#now()));
  }
}

function purposesOf({ extendedKeyUsage }: CertificateDescription): string {
  return [...(extendedKeyUsage ?? ['any'])].sort().join(' ');
}
