import type {
  AuditorService,
  DiscoveryService,
  LifecycleService,
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import type { NotificationService } from '@backstage/plugin-notifications-node';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import type {
  Accounts,
  PrivateDirectory,
  Replica,
  ReplicatedAccounts,
  SubjectLookup,
} from '@directory-gateway/directory-core';
import { BlockedKeys } from './certificates/BlockedKeys';
import type { CertificateAuthorities } from './certificates/CertificateAuthorities';
import { CertificateReader } from './certificates/CertificateReader';
import type { CertificatesConfig } from './certificates/CertificatesConfig';
import {
  ExpiryReminders,
  REMINDERS_INTERVAL_MS,
} from './certificates/expiry/ExpiryReminders';
import { GatewayChanges } from './certificates/GatewayChanges';
import { AccountHolds } from './certificates/holds/AccountHolds';
import { IssuanceService } from './certificates/IssuanceService';
import { CertificateOwners } from './certificates/records/CertificateOwners';
import { CertificateRecords } from './certificates/records/CertificateRecords';
import { importRecords } from './certificates/records/importRecords';
import { Reservations } from './certificates/records/Reservations';
import { RevocationService } from './certificates/RevocationService';
import { SigningLimit } from './certificates/SigningLimit';
import { UserCertificates } from './certificates/UserCertificates';
import type { PortalUserNames } from './portalUsers/PortalUserNames';
import type { CertificateServices } from './http/resources/certificates';

const MINUTE_MS = 60_000;

/** The gateway's records of certificates. */
export interface OpenedRecords {
  readonly owners: CertificateOwners;
  readonly records: CertificateRecords;
  readonly reservations: Reservations;
}

/**
 * Opens the records of certificates on a migrated database and imports those of
 * 0.2.0; `undefined` when `directory.certificates` is not configured.
 */
export async function openCertificateRecords(options: {
  readonly authorities: CertificateAuthorities;
  readonly config: { readonly certificates?: CertificatesConfig };
  readonly database: Database;
  readonly logger: LoggerService;
}): Promise<OpenedRecords | undefined> {
  const { authorities, config, database, logger } = options;
  if (!config.certificates) {
    return undefined;
  }
  await importRecords(database);
  const records = new CertificateRecords(database);
  const reservations = new Reservations(database);
  const owners = new CertificateOwners({
    records,
    reservations,
    authorities: () => authorities.recorded,
    logger,
  });
  return { owners, records, reservations };
}

/**
 * Creates the services for certificates; `undefined` when
 * `directory.certificates` is not configured.
 *
 * @throws InputError when the configuration names a CA that is not installed, or
 *   enables holds that the CA does not support.
 */
export function createCertificates(options: {
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly auditor: AuditorService;
  readonly authorities: CertificateAuthorities;
  readonly certificateRecords: OpenedRecords | undefined;
  readonly config: { readonly certificates?: CertificatesConfig };
  readonly database: Database;
  readonly directory: PrivateDirectory;
  readonly discovery: DiscoveryService;
  readonly lifecycle: LifecycleService;
  readonly logger: LoggerService;
  readonly notifications: NotificationService;
  readonly portalUserNames: PortalUserNames;
  readonly replica: Replica;
  readonly replicated: ReplicatedAccounts;
  readonly scheduler: SchedulerService;
  readonly subjects: SubjectLookup;
}):
  | (CertificateServices & {
      /** Permits runs above the limit. */
      readonly holds: Pick<AccountHolds, 'override'>;
      /** Schedules the tasks for records, expiry reminders and holds. */
      scheduleTasks(): Promise<void>;
    })
  | undefined {
  const { authorities, certificateRecords, database } = options;
  const { logger, replicated, scheduler } = options;
  const config = options.config.certificates;
  if (!config || !certificateRecords) {
    return undefined;
  }
  const { owners, records, reservations } = certificateRecords;
  authorities.configure(config, {
    accounts: replicated,
    records,
  });
  void owners.start();
  options.lifecycle.addShutdownHook(() => owners.stop());
  if (config.accountHolds.enabled && !authorities.hasHolds()) {
    throw new InputError(
      'directory.certificates.accountHolds.enabled: the CA cannot put certificates on hold',
    );
  }
  /** Schedules a task that runs in one process at a time. */
  const schedule = (
    name: string,
    milliseconds: number,
    run: (signal: AbortSignal) => Promise<void>,
  ) =>
    scheduler.scheduleTask({
      id: `certificate-${name}`,
      frequency: { milliseconds },
      timeout: { minutes: 30 },
      // The notifications plugin may start at the same time.
      initialDelay: { seconds: 30 },
      fn: signal =>
        run(signal).catch(error =>
          logger.warn(`The task certificate-${name} failed: ${error}`),
        ),
    });
  const limit = new SigningLimit({ database, limit: config.limit });
  const blockedKeys = new BlockedKeys(database);
  const base = {
    ...options,
    blockedKeys,
    changes: new GatewayChanges(options),
    config,
    limit,
    records,
    reservations,
    stableIdOf: (username: string) => replicated.stableIdOf(username),
  };
  const holds = new AccountHolds({ ...base, config: config.accountHolds });
  const revocations = new RevocationService(base);
  const issuance = new IssuanceService({ ...base, revocations });
  return {
    ...base,
    authority: authorities.issuing,
    holds,
    issuance,
    listed: new UserCertificates(base),
    reader: new CertificateReader(base),
    revocations,
    async scheduleTasks() {
      const { reminders } = config;
      await schedule('records', MINUTE_MS, async () => {
        await importRecords(database);
        await revocations.revokeLost();
        await revocations.deleteLost();
        await records.deleteExpired();
        await limit.deleteExpired();
      });
      await schedule('account-holds', MINUTE_MS, signal => holds.run(signal));
      if (reminders.daysBefore.length > 0) {
        const expiry = new ExpiryReminders({
          ...base,
          config: reminders,
        });
        await schedule('expiry-reminders', REMINDERS_INTERVAL_MS, signal =>
          expiry.run(signal),
        );
      }
    },
  };
}
