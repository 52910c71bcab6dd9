import type {
  LoggerService,
  SchedulerService,
} from '@backstage/backend-plugin-api';
import type { AuthorityKeeper } from './authority/AuthorityKeeper';
import type { RevocationLists } from './revocation/RevocationLists';

/**
 * Has every node look each minute, and at once, whether its key has come and
 * whether the revocation list is due. Every node, because the one that a shared
 * task ran on might be the one without the key; who comes second finds nothing
 * to do.
 */
export async function scheduleUpkeep(options: {
  readonly keeper: AuthorityKeeper;
  readonly lists: RevocationLists;
  readonly scheduler: SchedulerService;
  readonly logger: LoggerService;
}): Promise<void> {
  const { keeper, lists, scheduler, logger } = options;
  await scheduler.scheduleTask({
    id: 'embedded-ca-upkeep',
    scope: 'local',
    frequency: { minutes: 1 },
    timeout: { minutes: 1 },
    async fn() {
      try {
        await keeper.open();
        if (keeper.isOpen) {
          await lists.renew();
        }
      } catch (error) {
        // The scheduler keeps quiet about what a local task throws.
        logger.error(`The revocation list was not renewed: ${error}`);
      }
    },
  });
}
