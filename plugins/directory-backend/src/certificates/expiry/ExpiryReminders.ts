import type {
  DiscoveryService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import type { NotificationService } from '@backstage/plugin-notifications-node';
import type { CertificateDescription } from '@directory-gateway/x509';
import { metrics } from '@opentelemetry/api';
import type { Accounts } from '@directory-gateway/directory-core';
import type { PortalUserNames } from '../../portalUsers/PortalUserNames';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import type { RemindersConfig } from '../CertificatesConfig';
import type { CertificateRecords } from '../records/CertificateRecords';
import { checkPrincipal } from '../signingRules';
import {
  DAY_MS,
  type ExpiringCertificate,
  type Reminder,
  composeReminder,
  findDueReminder,
} from './reminder';
import type { ReminderLedger } from './ReminderLedger';

/** Maximum time in milliseconds to find out whether the plugin is installed. */
const TIMEOUT_MS = 10_000;

/** Options of {@link ExpiryReminders}. */
export interface ExpiryRemindersOptions {
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly authorities: Pick<CertificateAuthorities, 'get'>;
  readonly config: RemindersConfig;
  readonly discovery: DiscoveryService;
  readonly ledger: ReminderLedger;
  readonly logger: LoggerService;
  readonly notifications: NotificationService;
  readonly portalUserNames: Pick<
    PortalUserNames,
    'entityRefsOf' | 'isConfigured'
  >;
  readonly records: Pick<CertificateRecords, 'listExpiring'>;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Notifies users whose certificates are about to expire, once per reminder
 * across all processes. Omits locked, expired and unmapped users, and revoked
 * or renewed certificates. If users cannot be notified, the log and a metric
 * contain the number of certificates.
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
          this.#now() - this.#expiring.at < 2 * options.config.everyMs
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
    const { config, ledger, logger, records } = this.#options;
    const now = this.#now();
    const days = Math.max(...config.daysBefore);
    const expiring = await records.listExpiring({
      from: new Date(now),
      before: new Date(now + days * DAY_MS + 1),
    });
    const current = expiring.flatMap(
      certificate =>
        findDueReminder(certificate, { now, daysBefore: config.daysBefore }) ??
        [],
    );
    this.#expiring = { count: current.length, at: now };
    if (!(await this.#canNotify(signal))) {
      if (current.length > 0) {
        logger.info(
          `${current.length} certificates expire within ${days} days. Their users are not notified: the notifications plugin or directory.portalUsers is missing`,
        );
      }
      return;
    }
    const due = await ledger.unsentOf(current);
    const errors = new Array<unknown>();
    for (const [username, reminders] of byUser(due)) {
      if (signal.aborted) {
        return;
      }
      await this.#remind(username, { reminders, errors, signal }).catch(error =>
        errors.push(...reminders.map(() => error)),
      );
    }
    if (errors.length > 0) {
      logger.warn(
        `${errors.length} certificate expiry reminders failed and are retried in the next run; first error: ${errors[0]}`,
      );
    }
    await ledger.removeExpired(new Date(now));
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

  /** Sends the reminders of one user, if the user is active and is mapped. */
  async #remind(
    username: string,
    options: {
      readonly reminders: readonly Reminder[];
      /** Receives the errors of single reminders. */
      readonly errors: unknown[];
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { accounts, portalUserNames, records } = this.#options;
    const { errors, signal } = options;
    const owner = await accounts.findLive({ username }, { signal });
    if (!owner || !checkPrincipal(owner).passed) {
      return;
    }
    // Another account may have the name now.
    const reminders = options.reminders.filter(
      ({ certificate: { subjectId = owner.stableId } }) =>
        subjectId === owner.stableId,
    );
    const recipients = await portalUserNames.entityRefsOf(username);
    if (recipients.length === 0) {
      return;
    }
    const from = new Date(this.#now());
    const { stableId } = owner;
    const all = await records.listExpiring({
      from,
      owner: { username, stableId },
    });
    for (const reminder of reminders) {
      try {
        const description = await this.#describe(reminder.certificate);
        if (
          description &&
          !(await this.#isRenewed(reminder, { description, all }))
        ) {
          await this.#send({ reminder, description, recipients });
        }
      } catch (error) {
        errors.push(error);
      }
    }
  }

  /**
   * Returns whether the user has another certificate with the same subject and
   * key purposes that is already valid and expires later.
   */
  async #isRenewed(
    { certificate: { notAfter } }: Reminder,
    options: {
      readonly description: CertificateDescription;
      /** All unexpired certificates of the user. */
      readonly all: readonly ExpiringCertificate[];
    },
  ): Promise<boolean> {
    const { description, all } = options;
    const now = this.#now();
    for (const other of all) {
      const described =
        other.notAfter > notAfter && other.notBefore.getTime() <= now
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
    const issued = await this.#options.authorities.get(serialNumber);
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

/** Returns the reminders by user, who is looked up once. */
function byUser(
  reminders: readonly Reminder[],
): ReadonlyMap<string, readonly Reminder[]> {
  const groups = new Map<string, Reminder[]>();
  for (const reminder of reminders) {
    const { username } = reminder.certificate;
    groups.set(username, [...(groups.get(username) ?? []), reminder]);
  }
  return groups;
}
