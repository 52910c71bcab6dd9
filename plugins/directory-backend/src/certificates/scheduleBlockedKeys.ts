import type {
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import type { CertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node';
import type { BlockedKeys } from './BlockedKeys';

/**
 * Schedules a task that sends blocked keys to the CA every minute, because its
 * signer may not have been available when a key was blocked. Each process sends
 * each key once.
 */
export async function scheduleBlockedKeys({
  authority,
  blockedKeys,
  logger,
  scheduler,
}: {
  readonly authority: Required<Pick<CertificateAuthority, 'blockKey'>>;
  readonly blockedKeys: Pick<BlockedKeys, 'list'>;
  readonly logger: LoggerService;
  readonly scheduler: SchedulerService;
}): Promise<void> {
  const blocked = new Set<string>();
  await scheduler.scheduleTask({
    id: 'certificate-blocked-keys',
    frequency: { minutes: 1 },
    timeout: { minutes: 10 },
    initialDelay: { seconds: 15 },
    async fn(signal) {
      try {
        for (const publicKeySha256 of await blockedKeys.list()) {
          signal.throwIfAborted();
          if (!blocked.has(publicKeySha256)) {
            await authority.blockKey({ publicKeySha256 });
            blocked.add(publicKeySha256);
          }
        }
      } catch (error) {
        logger.warn(`Blocked keys were not reported to the CA: ${error}`);
      }
    },
  });
}
