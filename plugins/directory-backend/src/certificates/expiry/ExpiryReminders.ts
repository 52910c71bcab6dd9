import type {
  DiscoveryService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type {
  CertificateAuthority,
  ExpiringCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type CertificateDescription,
  describeCertificate,
} from '@directory-gateway/x509';
import type { Accounts } from '../../directory/Accounts';
import type { PortalUserNames } from '../../directory/PortalUserNames';
import { judgePrincipal } from '../signingRules';
import {
  DAY_MS,
  type Reminder,
  composeReminder,
  findDueReminder,
} from './reminder';
import type { ReminderLedger } from './ReminderLedger';
import type { RemindersConfig } from '../CertificatesConfig';
import { metrics } from '@opentelemetry/api';
import type {
  NotificationSendOptions,
  NotificationService,
} from '@backstage/plugin-notifications-node';

/** Counts the messages about certificates that end. Whose is no attribute. */
export class ReminderMetrics {
  readonly #reminders = metrics
    .getMeter('directory')
    .createCounter('directory.certificate.reminders', {
      description: 'Messages about certificates that end',
    });

  /** Counts one: whether the portal's notifications took it. */
  count(outcome: 'sent' | 'failed'): void {
    this.#reminders.add(1, { outcome });
  }
}

/** What {@link ExpiryReminders} are made of. */
export interface ExpiryRemindersOptions {
  readonly authority: Pick<CertificateAuthority, 'get' | 'listExpiring'>;
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
    if (!(await notifications.isInstalled())) {
      this.#sayThatNothingIsSent();
      return;
    }
    const now = this.#now();
    const ending = await authority.listExpiring?.({
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
    certificate: ExpiringCertificate,
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
    certificate: ExpiringCertificate,
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

/**
 * A certificate of the same user that ends later, is valid now, and can do the
 * same: it has the same subject and the same key purposes. Names of profiles
 * are no part of certificates, and an authority need not remember them.
 */
export async function findRenewal(options: {
  readonly certificate: ExpiringCertificate;
  readonly described: CertificateDescription;
  readonly authority: Pick<CertificateAuthority, 'get' | 'listExpiring'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}): Promise<CertificateDescription | undefined> {
  const { certificate, described, authority, now } = options;
  const later = await authority.listExpiring?.({
    from: new Date(certificate.notAfter.getTime() + 1),
    username: certificate.username,
  });
  for (const { serialNumber, notBefore } of later ?? []) {
    const issued =
      notBefore.getTime() <= now
        ? await authority.get(serialNumber)
        : undefined;
    const other = issued && describeCertificate(issued.certificate);
    if (
      other?.ok &&
      !issued?.revocation &&
      isSameKind(other.certificate, described)
    ) {
      return other.certificate;
    }
  }
  return undefined;
}

function isSameKind(
  one: CertificateDescription,
  other: CertificateDescription,
): boolean {
  return one.subject === other.subject && purposesOf(one) === purposesOf(other);
}

function purposesOf({ extendedKeyUsage }: CertificateDescription): string {
  return [...(extendedKeyUsage ?? ['any'])].sort().join(' ');
}

/**
 * The portal's notifications plugin, which may not be installed: the service
 * that sends is there in any case, and then fails with nothing but a sentence.
 */
export class PortalNotifications {
  readonly #service: NotificationService;
  readonly #discovery: DiscoveryService;

  constructor(options: {
    readonly service: NotificationService;
    readonly discovery: DiscoveryService;
  }) {
    this.#service = options.service;
    this.#discovery = options.discovery;
  }

  /**
   * Whether the plugin answers: with a refusal, for nobody asks, while the
   * portal itself answers 404 for a plugin that it does not have.
   */
  async isInstalled(): Promise<boolean> {
    const baseUrl = await this.#discovery.getBaseUrl('notifications');
    const response = await fetch(baseUrl, { method: 'HEAD' });
    return response.status !== 404;
  }

  /** @throws Error when the message was not taken, or nobody said so. */
  async send(message: NotificationSendOptions): Promise<void> {
    await this.#service.send(message);
  }
}
