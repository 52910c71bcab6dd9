import {
  coreServices,
  createBackendModule,
  type LoggerService,
  type SchedulerService,
} from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import type { Config } from '@backstage/config';
import { eventsServiceRef } from '@backstage/plugin-events-node';

/** Topic of the events of `catalog-backend-module-directory`. */
const TOPIC = 'catalog.directory.users';

/** Task of the search plugin that indexes the catalog. */
const INDEX_TASK = 'search_index_software_catalog';

/**
 * Number of runs after a change. The second one has the entities that the
 * catalog had not processed when the first one read them.
 */
const RUNS = 2;

/**
 * Time from a change to the first run, in milliseconds. The catalog processes a
 * changed entity within three seconds, unless it has many to process.
 */
export const SETTLE_MS = 5000;

/** Minimum time between two runs, in milliseconds. */
export const INTERVAL_MS = 60_000;

/** Interval of attempts to start a run, in milliseconds. */
export const RETRY_MS = 5000;

interface IndexTriggerOptions {
  readonly logger: LoggerService;
  readonly scheduler: Pick<SchedulerService, 'triggerTask'>;
}

/** Runs the index task after changes, at most once a minute. */
export class IndexTrigger {
  readonly #options: IndexTriggerOptions;
  /** Set while a run is due and for the minimum time after a run. */
  #timer: NodeJS.Timeout | undefined;
  #dueRuns = 0;
  #hasFailed = false;
  #isStopped = false;

  constructor(options: IndexTriggerOptions) {
    this.#options = options;
  }

  /** Requests runs after a change. */
  request(): void {
    this.#dueRuns = RUNS;
    if (!this.#timer) {
      this.#wait(SETTLE_MS);
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    if (!this.#isStopped) {
      this.#timer = setTimeout(() => this.#run(), ms).unref();
    }
  }

  async #run(): Promise<void> {
    if (this.#dueRuns === 0) {
      this.#timer = undefined;
      return;
    }
    const { logger, scheduler } = this.#options;
    let waitMs = RETRY_MS;
    try {
      await scheduler.triggerTask(INDEX_TASK);
      this.#dueRuns--;
      this.#hasFailed = false;
      waitMs = INTERVAL_MS;
    } catch (error) {
      // The task is running, and may have read the entities before the change.
      const isRunning = isError(error) && error.name === 'ConflictError';
      if (!isRunning && !this.#hasFailed) {
        this.#hasFailed = true;
        logger.warn(
          `The search index is not updated after a profile became private or a user was deleted: ${error}`,
        );
      }
    }
    this.#wait(waitMs);
  }
}

/** Returns whether the filter of the catalog's collator accepts users. */
export function hasUsers(config: Config): boolean {
  type Filter = { readonly kind?: string | readonly string[] };
  const filter =
    config.getOptional<Filter | Filter[]>('search.collators.catalog.filter') ??
    {};
  return [filter]
    .flat()
    .some(({ kind = 'User' }) =>
      [kind].flat().some(name => /^user$/i.test(name)),
    );
}

/**
 * Starts the task that indexes the catalog after a user was removed from the
 * catalog, or a user's name or e-mail address changed there, unless the index
 * has no users (`search.collators.catalog.filter`). Requires
 * `catalog-backend-module-directory` and
 * `@backstage/plugin-search-backend-module-catalog`.
 *
 * @public
 */
export const searchModuleDirectory = createBackendModule({
  pluginId: 'search',
  moduleId: 'directory',
  register(env) {
    env.registerInit({
      deps: {
        config: coreServices.rootConfig,
        events: eventsServiceRef,
        lifecycle: coreServices.lifecycle,
        logger: coreServices.logger,
        scheduler: coreServices.scheduler,
      },
      async init({ config, events, lifecycle, logger, scheduler }) {
        if (!hasUsers(config)) {
          return;
        }
        const trigger = new IndexTrigger({ logger, scheduler });
        lifecycle.addShutdownHook(() => trigger.stop());
        await events.subscribe({
          id: 'directory',
          topics: [TOPIC],
          onEvent: async () => trigger.request(),
        });
      },
    });
  },
});
