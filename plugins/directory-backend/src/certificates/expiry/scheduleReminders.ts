import type {
  DatabaseService,
  DiscoveryService,
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import type { NotificationService } from '@backstage/plugin-notifications-node';
import type { Accounts } from '../../directory/Accounts';
import type { PortalUserNames } from '../../directory/PortalUserNames';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import { ExpiryReminders, PortalNotifications } from './ExpiryReminders';
import { ReminderLedger } from './ReminderLedger';
import type { RemindersConfig } from '../CertificatesConfig';

/**
 * Has one process of the portal at a time look for certificates that end, as
 * often as it is configured. Without steps nothing is scheduled; without portal
 * users who are directory users there is nobody to write to, and the log says
 * so.
 */
export async function scheduleReminders(options: {
  readonly authorities: CertificateAuthorities;
  readonly config: RemindersConfig;
  readonly database: Awaited<ReturnType<DatabaseService['getClient']>>;
  readonly discovery: DiscoveryService;
  readonly logger: LoggerService;
  readonly notifications: NotificationService;
  readonly portalUserNames: PortalUserNames;
  readonly accounts: Pick<Accounts, 'findLive'>;
  readonly scheduler: SchedulerService;
}): Promise<void> {
  const { config, logger, portalUserNames } = options;
  if (config.daysBefore.length === 0) {
    return;
  }
  if (!portalUserNames.areMapped) {
    logger.info(
      'Nobody is reminded of the end of certificates: directory.portalUsers is not configured',
    );
    return;
  }
  const reminders = new ExpiryReminders({
    authority: options.authorities,
    config,
    logger,
    portalUserNames,
    accounts: options.accounts,
    ledger: new ReminderLedger(options.database),
    notifications: new PortalNotifications({
      service: options.notifications,
      discovery: options.discovery,
    }),
  });
  await options.scheduler.scheduleTask({
    id: 'certificate-expiry-reminders',
    frequency: { milliseconds: config.everyMs },
    timeout: { minutes: 30 },
    // The notifications plugin starts at the same time.
    initialDelay: { seconds: 30 },
    fn: async signal => {
      try {
        await reminders.run(signal);
      } catch (error) {
        logger.warn(`Certificates that end were not looked for: ${error}`);
      }
    },
  });
}
