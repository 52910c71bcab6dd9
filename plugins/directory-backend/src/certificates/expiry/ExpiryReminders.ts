import type {
  DiscoveryService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type {
  NotificationSendOptions,
  NotificationService,
} from '@backstage/plugin-notifications-node';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import type {
  Accounts,
  ReplicatedAccounts,
} from '@directory-gateway/directory-core';
import type { CertificateDescription } from '@directory-gateway/x509';
import { metrics } from '@opentelemetry/api';
import type { PortalUserNames } from '../../portalUsers/PortalUserNames';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import type { CertificatesConfig } from '../CertificatesConfig';
import type { CertificateRecord } from '../records/certificateRows';
import type { CertificateRecords } from '../records/CertificateRecords';
import { checkPrincipal } from '../signingRules';

/** Table of the reminders that were sent. */
export const REMINDERS = 'directory_reminders';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum days before expiry for the severity `high`. */
const URGENT_DAYS = 7;

/** Interval of the task that sends reminders, in milliseconds. */
export const REMINDERS_INTERVAL_MS = 6 * 60 * 60 * 1000;

/** Maximum time in milliseconds to find out whether the plugin is installed. */
const TIMEOUT_MS = 10_000;

/** A reminder that a certificate expires. */
interface Reminder {
  readonly certificate: CertificateRecord;
  /** One of the configured numbers of days before expiry. */
  readonly daysBefore: number;
}

/** Options of {@link ExpiryReminders}. */
export interface ExpiryRemindersOptions {
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly authorities: Pick<CertificateAuthorities, 'get'>;
  readonly config: CertificatesConfig['reminders'];
  readonly database: Database;
  readonly discovery: DiscoveryService;
  readonly logger: LoggerService;
  readonly notifications: NotificationService;
  readonly portalUserNames: Pick<
    PortalUserNames,
    'entityRefsOf' | 'isConfigured'
  >;
  readonly records: Pick<CertificateRecords, 'listExpiring' | 'listOf'>;
  readonly replicated: Pick<ReplicatedAccounts, 'usernameOf'>;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Notifies users whose certificates are about to expire, once per reminder: the
 * scheduler runs the task in one process at a time. Omits locked, expired and
 * unmapped users, and revoked or renewed certificates. If users cannot be
 * notified, the log and a metric contain the number of certificates.
 */
export class ExpiryReminders {
  readonly #options: ExpiryRemindersOptions;
  readonly #reminders = metrics
    .getMeter('directory')
    .createCounter('directory.certificate.reminders', {
      description: 'Expiry reminders for certificates',
    });
  readonly #now: () => number;
  /** Result of the last run; `undefined` before the first one. */
  #expiring: { readonly count: number; readonly at: number } | undefined;

  constructor(options: ExpiryRemindersOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    metrics
      .getMeter('directory')
      .createObservableGauge('directory.certificate.expiring', {
        description:
          'Certificates that expire within the first of the configured reminders',
      })
      .addCallback(result => {
        // Later runs may be in other processes.
        if (
          this.#expiring &&
          this.#now() - this.#expiring.at < 2 * REMINDERS_INTERVAL_MS
        ) {
          result.observe(this.#expiring.count);
        }
      });
  }

  /**
   * Sends the reminders that are due. Failed reminders are retried in the next
   * run; a single line is logged for all of them.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { config, database, logger, records } = this.#options;
    const now = this.#now();
    const days = Math.max(...config.daysBefore);
    const expiring = await records.listExpiring({
      from: new Date(now),
      before: new Date(now + days * DAY_MS + 1),
    });
    const due = expiring.flatMap(certificate => {
      const daysBefore = findDueStep(certificate, { ...config, now });
      return daysBefore === undefined ? [] : [{ certificate, daysBefore }];
    });
    this.#expiring = { count: due.length, at: now };
    if (!(await this.#canNotify(signal))) {
      if (due.length > 0) {
        logger.info(
          `${due.length} certificates expire within ${days} days. Their users are not notified: the notifications plugin or directory.portalUsers is missing`,
        );
      }
      return;
    }
    const errors = new Array<unknown>();
    for (const reminder of due) {
      if (signal.aborted) {
        return;
      }
      await this.#remind(reminder, signal).catch(error => errors.push(error));
    }
    if (errors.length > 0) {
      logger.warn(
        `${errors.length} certificate expiry reminders failed and are retried in the next run; first error: ${errors[0]}`,
      );
    }
    await database(REMINDERS).where('not_after', '<', new Date(now)).delete();
  }

  /**
   * Returns whether portal users are mapped and the notifications plugin is
   * installed; without it, the backend responds with 404.
   */
  async #canNotify(signal: AbortSignal): Promise<boolean> {
    const { discovery, portalUserNames } = this.#options;
    if (!portalUserNames.isConfigured) {
      return false;
    }
    const baseUrl = await discovery.getBaseUrl('notifications');
    const response = await fetch(baseUrl, {
      method: 'HEAD',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return response.status !== 404;
  }

  /** Sends a reminder once, if the owner is an active, mapped user. */
  async #remind(reminder: Reminder, signal: AbortSignal): Promise<void> {
    const { authorities, database, notifications } = this.#options;
    const { certificate, daysBefore } = reminder;
    const key = {
      serial_number: String(certificate.serialNumber),
      not_after: certificate.notAfter,
      days_before: daysBefore,
    };
    if (await database(REMINDERS).where(key).whereNotNull('sent_at').first()) {
      return;
    }
    const recipients = await this.#recipientsOf(certificate, signal);
    if (recipients.length === 0) {
      return;
    }
    const issued = await authorities.get(certificate.serialNumber);
    const description = issued?.certificate.description;
    if (!description?.ok || issued?.revocation) {
      return;
    }
    const now = this.#now();
    try {
      await notifications.send(
        composeReminder({
          reminder,
          description: description.certificate,
          recipients,
          now,
        }),
      );
    } catch (error) {
      this.#reminders.add(1, { outcome: 'failed' });
      throw error;
    }
    this.#reminders.add(1, { outcome: 'sent' });
    const at = new Date(now);
    await database(REMINDERS)
      .insert({ ...key, claimed_at: at, sent_at: at })
      .onConflict(['serial_number', 'not_after', 'days_before'])
      .merge(['sent_at']);
  }

  /**
   * Returns the entity references of the owner; empty when the account is not
   * active or not mapped, or has renewed the certificate.
   */
  async #recipientsOf(
    certificate: CertificateRecord,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { accounts, portalUserNames, records, replicated } = this.#options;
    const { subjectId } = certificate;
    const username =
      subjectId === undefined
        ? certificate.username
        : replicated.usernameOf(subjectId);
    const owner =
      username === undefined
        ? undefined
        : await accounts.findLive({ username }, { signal });
    if (
      !owner ||
      !checkPrincipal(owner).passed ||
      owner.stableId !== (subjectId ?? owner.stableId)
    ) {
      return [];
    }
    const { stableId } = owner;
    const all = await records.listOf({ username: username!, stableId });
    for (const other of all) {
      if (await this.#isRenewal(other, certificate)) {
        return [];
      }
    }
    return await portalUserNames.entityRefsOf(username!);
  }

  /**
   * Returns whether a certificate is valid already and replaces another. The CA
   * may have revoked it without the gateway.
   */
  async #isRenewal(
    other: CertificateRecord,
    certificate: CertificateRecord,
  ): Promise<boolean> {
    if (
      other.profile !== certificate.profile ||
      other.notAfter <= certificate.notAfter ||
      other.notBefore.getTime() > this.#now() ||
      other.revocation
    ) {
      return false;
    }
    const issued = await this.#options.authorities.get(other.serialNumber);
    return issued !== undefined && !issued.revocation;
  }
}

/**
 * Returns the days before expiry of the reminder that is due now: the one
 * closest to expiry. Earlier ones are skipped, so that a portal that was down
 * does not send several at once. No reminder is due on the first day of a
 * certificate's validity.
 */
export function findDueStep(
  certificate: Pick<CertificateRecord, 'notAfter' | 'notBefore'>,
  options: {
    /** Milliseconds since 1970. */
    readonly now: number;
    /** Numbers of days in ascending order. */
    readonly daysBefore: readonly number[];
  },
): number | undefined {
  const notAfter = certificate.notAfter.getTime();
  const left = notAfter - options.now;
  const due = options.daysBefore.find(days => left <= days * DAY_MS);
  const validity = notAfter - certificate.notBefore.getTime();
  return left > 0 && due !== undefined && (due + 1) * DAY_MS <= validity
    ? due
    : undefined;
}

/** Composes the notification with serial number, subject and link. */
function composeReminder(options: {
  readonly reminder: Reminder;
  readonly description: CertificateDescription;
  /** Entity references of the recipients. */
  readonly recipients: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}): NotificationSendOptions {
  const { reminder, description, recipients, now } = options;
  const { serialNumber, subject, notAfter } = description;
  const days = Math.ceil((notAfter - now) / DAY_MS);
  const time = new Date(notAfter).toISOString().slice(0, 16).replace('T', ' ');
  return {
    recipients: { type: 'entity', entityRef: [...recipients] },
    payload: {
      title: `Your certificate expires in ${
        days === 1 ? '1 day' : `${days} days`
      }`,
      description: `The certificate of ${subject} with the serial number ${serialNumber} expires on ${time} UTC. Request a new one before then.`,
      link: `/directory/certificates/${serialNumber}`,
      severity: reminder.daysBefore <= URGENT_DAYS ? 'high' : 'normal',
      topic: 'certificate-expiry',
      // The notifications plugin updates a notification with the same scope, so
      // a reminder that is sent twice appears once.
      scope: `certificate-expiry:${serialNumber}:${reminder.daysBefore}`,
    },
  };
}
