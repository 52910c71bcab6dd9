import type {
  AuditorService,
  DiscoveryService,
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import type { NotificationService } from '@backstage/plugin-notifications-node';
import { BlockedKeys } from './certificates/BlockedKeys';
import type { CertificateAuthorities } from './certificates/CertificateAuthorities';
import { CertificateReader } from './certificates/CertificateReader';
import type { CertificatesConfig } from './certificates/CertificatesConfig';
import { scheduleReminders } from './certificates/expiry/scheduleReminders';
import { IssuanceService } from './certificates/IssuanceService';
import { RevocationService } from './certificates/RevocationService';
import { SigningLimit } from './certificates/SigningLimit';
import type { Accounts } from './directory/Accounts';
import type { PortalUserNames } from './directory/PortalUserNames';
import type { PrivateDirectory } from './directory/PrivateDirectory';
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
  readonly scheduler: SchedulerService;
}): Promise<
  | (CertificateServices & {
      /** Schedules the task that sends expiry reminders. */
      scheduleReminders(): Promise<void>;
    })
  | undefined
> {
  const { authorities, database } = options;
  const config = options.config.certificates;
  if (!config) {
    return undefined;
  }
  authorities.configure(config);
  const shared = {
    ...options,
    authority: authorities,
    blockedKeys: new BlockedKeys(database),
    config,
    limit: await SigningLimit.create({ database, limit: config.limit }),
  };
  return {
    authority: authorities,
    config,
    issuance: new IssuanceService(shared),
    reader: new CertificateReader(shared),
    revocations: new RevocationService(shared),
    scheduleReminders: () =>
      scheduleReminders({ ...options, config: config.reminders }),
  };
}
