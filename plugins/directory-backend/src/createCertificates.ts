import type {
  AuditorService,
  DiscoveryService,
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import type { NotificationService } from '@backstage/plugin-notifications-node';
import { BlockedKeys } from './certificates/BlockedKeys';
import type { CertificateAuthorities } from './certificates/CertificateAuthorities';
import { CertificateRecords } from './certificates/CertificateRecords';
import { CertificateReader } from './certificates/CertificateReader';
import type { CertificatesConfig } from './certificates/CertificatesConfig';
import { scheduleReminders } from './certificates/expiry/scheduleReminders';
import { RenewalService } from './certificates/RenewalService';
import { HoldRecords } from './certificates/holds/HoldRecords';
import { scheduleAccountHolds } from './certificates/holds/scheduleAccountHolds';
import { IssuanceService } from './certificates/IssuanceService';
import { RevocationService } from './certificates/RevocationService';
import { scheduleBlockedKeys } from './certificates/scheduleBlockedKeys';
import { SigningLimit } from './certificates/SigningLimit';
import type { Accounts } from './directory/Accounts';
import type { PortalUserNames } from './directory/PortalUserNames';
import type { SubjectLookup } from './directory/Principal';
import type { PrivateDirectory } from './directory/PrivateDirectory';
import type { Replica } from './replica/Replica';
import type { ReplicatedAccounts } from './replica/ReplicatedAccounts';
import type { CertificateServices } from './http/resources/certificates';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * Creates the services for certificates; `undefined` when
 * `directory.certificates` is not configured.
 *
 * @throws InputError when the configuration names a CA that is not installed.
 */
export async function createCertificates(options: {
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly auditor: AuditorService;
  readonly authorities: CertificateAuthorities;
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
}): Promise<
  | (CertificateServices & {
      /** Permits runs above the limit. */
      readonly holds: Pick<HoldRecords, 'override'>;
      /** Schedules the tasks for expiry reminders, holds and blocked keys. */
      scheduleTasks(): Promise<void>;
    })
  | undefined
> {
  const { authorities, database } = options;
  const config = options.config.certificates;
  if (!config) {
    return undefined;
  }
  authorities.configure(config);
  for (const key of config.ignoredKeys) {
    options.logger.warn(`${key} has no effect any more; remove it`);
  }
  const records = new CertificateRecords(database);
  const holds = new HoldRecords(database);
  const base = {
    ...options,
    authority: authorities,
    blockedKeys: new BlockedKeys(database),
    config,
    records,
    limit: await SigningLimit.create({ database, limit: config.limit }),
  };
  const shared = {
    ...base,
    issuance: new IssuanceService(base),
  };
  return {
    authority: authorities,
    config,
    issuance: shared.issuance,
    limit: shared.limit,
    records,
    renewals: new RenewalService(shared),
    reader: new CertificateReader(shared),
    revocations: new RevocationService(shared),
    holds,
    async scheduleTasks() {
      await scheduleReminders({ ...options, config: config.reminders });
      await scheduleAccountHolds({
        ...options,
        authority: authorities,
        certificates: records,
        config: config.accountHolds,
        records: holds,
      });
      await scheduleBlockedKeys({ ...shared, scheduler: options.scheduler });
    },
  };
}
