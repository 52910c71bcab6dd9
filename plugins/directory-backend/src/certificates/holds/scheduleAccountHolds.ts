import type {
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import { InputError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateAuthorities } from '../CertificateAuthorities';
import type { AccountHoldsConfig } from '../CertificatesConfig';
import { AccountHolds, type AccountHoldsOptions } from './AccountHolds';

/** Attempts of a task while the replica is being written. */
const ATTEMPTS = 20;
const PAUSE_MS = 250;

/**
 * Schedules the task that checks accounts for holds every minute, in one
 * process at a time, if the CA supports holds.
 *
 * @throws InputError when holds are enabled but the CA does not support them.
 */
export async function scheduleAccountHolds(
  options: Omit<AccountHoldsOptions, 'authority' | 'now'> & {
    readonly authority: CertificateAuthorities;
    readonly config: AccountHoldsConfig;
    readonly logger: LoggerService;
    readonly scheduler: SchedulerService;
  },
): Promise<void> {
  const { authority, config, logger, scheduler } = options;
  if (config.enabled && !authority.hasHolds) {
    throw new InputError(
      'directory.certificates.accountHolds.enabled: the CA cannot put certificates on hold',
    );
  }
  if (!(config.enabled ?? authority.hasHolds)) {
    return;
  }
  const holds = new AccountHolds(options);
  await scheduler.scheduleTask({
    id: 'certificate-account-holds',
    frequency: { minutes: 1 },
    timeout: { minutes: 30 },
    initialDelay: { seconds: 15 },
    async fn(signal) {
      try {
        for (let n = 0; n < ATTEMPTS && !(await holds.run(signal)); n++) {
          await sleep(PAUSE_MS, undefined, { signal, ref: false });
        }
      } catch (error) {
        logger.warn(`The account hold check failed: ${error}`);
      }
    },
  });
}
