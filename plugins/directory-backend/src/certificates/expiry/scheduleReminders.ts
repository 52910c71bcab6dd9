import type {
  DiscoveryService,
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import type { NotificationService } from '@backstage/plugin-notifications-node';
import type { Accounts } from '../../directory/Accounts';
import type { PortalUserNames } from '../../directory/PortalUserNames';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import type { RemindersConfig } from '../CertificatesConfig';
import type { CertificateRecords } from '../records/CertificateRecords';
import { ExpiryReminders } from './ExpiryReminders';
import { ReminderLedger } from './ReminderLedger';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * Schedules the task that sends expiry reminders, unless no days are configured.
 */
export async function scheduleReminders(options: {
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly authorities: CertificateAuthorities;
  readonly config: RemindersConfig;
  readonly database: Database;
  readonly discovery: DiscoveryService;
  readonly logger: LoggerService;
  readonly notifications: NotificationService;
  readonly portalUserNames: PortalUserNames;
  readonly records: CertificateRecords;
  readonly scheduler: SchedulerService;
}): Promise<void> {
  const { config, logger, scheduler } = options;
  if (config.daysBefore.length === 0) {
    return;
  }
  const reminders = new ExpiryReminders({
    ...options,
    ledger: new ReminderLedger(options.database),
  });
  await scheduler.scheduleTask({
    id: 'certificate-expiry-reminders',
    frequency: { milliseconds: config.everyMs },
    timeout: { minutes: 30 },
    // The notifications plugin may start at the same time.
    initialDelay: { seconds: 30 },
    async fn(signal) {
      try {
        await reminders.run(signal);
      } catch (error) {
        logger.warn(`Certificate expiry check failed: ${error}`);
      }
    },
  });
}
