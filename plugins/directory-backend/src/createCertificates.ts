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
import { ExpiryReminders } from './certificates/expiry/ExpiryReminders';
import { AccountHolds } from './certificates/holds/AccountHolds';
import { IssuanceService } from './certificates/IssuanceService';
import { CertificateOwners } from './certificates/records/CertificateOwners';
import { CertificateRecords } from './certificates/records/CertificateRecords';
import { importRecords } from './certificates/records/importRecords';
import { RevocationTable } from './certificates/records/RevocationTable';
import { RenewalService } from './certificates/RenewalService';
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
}

/**
 * Opens the records of certificates on a migrated database and imports those of
 * 0.2.0; `undefined` when `directory.certificates` is not configured.
 *
 * @throws InputError when the configuration names a CA that is not installed.
 */
export async function openCertificateRecords(options: {
  readonly authorities: CertificateAuthorities;
  readonly config: { readonly certificates?: CertificatesConfig };
  readonly database: Database;
  readonly lifecycle: LifecycleService;
  readonly logger: LoggerService;
}): Promise<OpenedRecords | undefined> {
  const { authorities, database, lifecycle, logger } = options;
  const config = options.config.certificates;
  if (!config) {
    return undefined;
  }
  await importRecords(database);
  const records = new CertificateRecords(database);
  const revocations = new RevocationTable({
    database,
    authority: config.authority,
  });
  authorities.configure(config, { records, revocations });
  const owners = new CertificateOwners({
    records,
    authorities: () => authorities.recorded,
    logger,
  });
  void owners.start();
  lifecycle.addShutdownHook(() => owners.stop());
  return { owners, records };
}

/**
 * Creates the services for certificates; `undefined` when
 * `directory.certificates` is not configured.
 *
 * @throws InputError when holds are enabled but the CA does not support them.
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
  const { certificateRecords, database, logger, scheduler } = options;
  const config = options.config.certificates;
  if (!config || !certificateRecords) {
    return undefined;
  }
  if (config.accountHolds.enabled && !options.authorities.hasHolds()) {
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
  const { records } = certificateRecords;
  const limit = new SigningLimit({ database, limit: config.limit });
  const blockedKeys = new BlockedKeys(database);
  const stableIdOf = (username: string) =>
    options.replicated.stableIdOf(username);
  const base = { ...options, blockedKeys, config, limit, records, stableIdOf };
  const holds = new AccountHolds({ ...base, config: config.accountHolds });
  const issuance = new IssuanceService(base);
  return {
    ...base,
    authority: options.authorities.issuing,
    holds,
    issuance,
    listed: new UserCertificates(base),
    reader: new CertificateReader(base),
    renewals: new RenewalService({ ...base, issuance }),
    revocations: new RevocationService(base),
    async scheduleTasks() {
      const { reminders } = config;
      await schedule('records', MINUTE_MS, async () => {
        await importRecords(database);
        await issuance.revokeLost();
        await records.deleteExpired();
        await limit.deleteExpired();
      });
      await schedule('account-holds', MINUTE_MS, signal => holds.run(signal));
      if (reminders.daysBefore.length > 0) {
        const expiry = new ExpiryReminders({
          ...base,
          config: reminders,
        });
        await schedule('expiry-reminders', reminders.everyMs, signal =>
          expiry.run(signal),
        );
      }
    },
  };
}
