import type { SchedulerService } from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import { AccountHolds, type AccountHoldsOptions } from './AccountHolds';

/**
 * Schedules the task that checks accounts for holds every minute, in one
 * process at a time.
 *
 * @throws InputError when holds are enabled but the CA does not support them.
 */
export async function scheduleAccountHolds(
  options: Omit<AccountHoldsOptions, 'authorities' | 'now'> & {
    readonly authorities: CertificateAuthorities;
    readonly scheduler: SchedulerService;
  },
): Promise<void> {
  const { authorities, config, logger, scheduler } = options;
  if (config.enabled && !authorities.hasHolds()) {
    throw new InputError(
      'directory.certificates.accountHolds.enabled: the CA cannot put certificates on hold',
    );
  }
  const holds = new AccountHolds(options);
  await scheduler.scheduleTask({
    id: 'certificate-account-holds',
    frequency: { minutes: 1 },
    timeout: { minutes: 30 },
    initialDelay: { seconds: 15 },
    async fn(signal) {
      try {
        await holds.run(signal);
      } catch (error) {
        logger.warn(`The account hold check failed: ${error}`);
      }
    },
  });
}
