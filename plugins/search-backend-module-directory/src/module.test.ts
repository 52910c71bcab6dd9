import { schedulerServiceFactory } from '@backstage/backend-defaults/scheduler';
import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import {
  mockServices,
  startTestBackend,
  type TestBackend,
} from '@backstage/backend-test-utils';
import { ConflictError, NotFoundError } from '@backstage/errors';
import {
  eventsServiceRef,
  type EventsService,
} from '@backstage/plugin-events-node';
import searchPlugin from '@backstage/plugin-search-backend';
import { searchIndexRegistryExtensionPoint } from '@backstage/plugin-search-backend-node/alpha';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigReader } from '@backstage/config';
import {
  hasUsers,
  IndexTrigger,
  INTERVAL_MS,
  RETRY_MS,
  searchModuleDirectory,
  SETTLE_MS,
} from './module';

jest.setTimeout(120_000);

describe('IndexTrigger', () => {
  const logger = mockServices.logger.mock();
  const triggerTask = jest.fn<Promise<void>, [string]>();
  let startedAt: number;
  let trigger: IndexTrigger;
  /** Times of the attempts to start a run, in milliseconds from the start. */
  let attempts: number[];

  beforeEach(() => {
    jest.useFakeTimers();
    jest.clearAllMocks();
    startedAt = Date.now();
    attempts = [];
    triggerTask.mockImplementation(async () => {
      attempts.push(Date.now() - startedAt);
    });
    trigger = new IndexTrigger({ logger, scheduler: { triggerTask } });
  });

  afterEach(() => {
    trigger.stop();
    jest.useRealTimers();
  });

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  /** Lets the next attempt fail. */
  const failOnce = (error: Error) =>
    triggerTask.mockImplementationOnce(async () => {
      attempts.push(Date.now() - startedAt);
      throw error;
    });

  it('starts a run soon after a change and another a minute later', async () => {
    trigger.request();
    await pass(10 * INTERVAL_MS);
    expect(attempts).toEqual([SETTLE_MS, SETTLE_MS + INTERVAL_MS]);
    expect(triggerTask).toHaveBeenCalledWith('search_index_software_catalog');
  });

  it('starts one run a minute while users change', async () => {
    for (let second = 0; second < 180; second++) {
      trigger.request();
      await pass(1000);
    }
    expect(attempts).toEqual(
      [0, 1, 2].map(run => SETTLE_MS + run * INTERVAL_MS),
    );
  });

  it('waits until a minute after the last run', async () => {
    trigger.request();
    await pass(2 * INTERVAL_MS);
    trigger.request();
    await pass(10 * INTERVAL_MS);
    expect(attempts).toEqual(
      [0, 1, 2, 3].map(run => SETTLE_MS + run * INTERVAL_MS),
    );
  });

  it('tries again without a warning while the task is running', async () => {
    failOnce(new ConflictError('running'));
    failOnce(new ConflictError('running'));
    trigger.request();
    await pass(10 * INTERVAL_MS);
    const firstRunAt = SETTLE_MS + 2 * RETRY_MS;
    expect(attempts).toEqual([
      ...[SETTLE_MS, SETTLE_MS + RETRY_MS],
      ...[firstRunAt, firstRunAt + INTERVAL_MS],
    ]);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('warns once about an error and tries again', async () => {
    failOnce(new NotFoundError('no such task'));
    failOnce(new NotFoundError('no such task'));
    trigger.request();
    await pass(10 * INTERVAL_MS);
    expect(attempts).toHaveLength(4);
    expect(logger.warn.mock.calls).toEqual([
      [
        'The search index is not updated after a profile became private or a user was deleted: NotFoundError: no such task',
      ],
    ]);
  });

  it('starts no run after it has stopped', async () => {
    trigger.request();
    trigger.stop();
    await pass(10 * INTERVAL_MS);
    expect(attempts).toEqual([]);
  });
});

describe('hasUsers', () => {
  it.each([
    [true, undefined],
    [true, { 'spec.type': 'service' }],
    [true, { kind: ['Group', 'User'] }],
    [true, { kind: 'user' }],
    [true, [{ kind: 'Group' }, { kind: 'User' }]],
    [false, { kind: ['Component', 'Group'] }],
    [false, [{ kind: 'Group' }, { kind: ['System'] }]],
  ])('is %s for the filter %j', (expected, filter) => {
    const catalog = filter === undefined ? {} : { filter };
    const config = new ConfigReader({ search: { collators: { catalog } } });
    expect(hasUsers(config)).toBe(expected);
  });
});

describe('searchModuleDirectory', () => {
  let backend: TestBackend;
  let events: EventsService;
  /** Documents of the runs of the index task. */
  let runs: PassThrough[];

  // The index is never updated at an interval.
  const indexModule = createBackendModule({
    pluginId: 'search',
    moduleId: 'index',
    register(env) {
      env.registerInit({
        deps: {
          events: eventsServiceRef,
          index: searchIndexRegistryExtensionPoint,
          scheduler: coreServices.scheduler,
        },
        async init(deps) {
          events = deps.events;
          deps.index.addCollator({
            schedule: deps.scheduler.createScheduledTaskRunner({
              frequency: { trigger: 'manual' },
              timeout: { minutes: 5 },
              // A trigger starts it immediately, not within five seconds.
              scope: 'local',
              initialDelay: { hours: 1 },
            }),
            factory: {
              type: 'software-catalog',
              async getCollator() {
                const run = new PassThrough({ objectMode: true });
                runs.push(run);
                return run;
              },
            },
          });
        },
      });
    },
  });

  beforeEach(async () => {
    runs = [];
    backend = await startTestBackend({
      features: [
        schedulerServiceFactory,
        searchPlugin,
        searchModuleDirectory,
        indexModule,
      ],
    });
  });

  afterEach(async () => {
    runs.forEach(run => run.end());
    await backend.stop();
  });

  const publish = () =>
    events.publish({ topic: 'catalog.directory.users', eventPayload: {} });

  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await sleep(100);
    }
  }

  it('runs the index task after an event', async () => {
    expect(runs).toHaveLength(0);
    jest.useFakeTimers();
    await publish();
    await jest.advanceTimersByTimeAsync(SETTLE_MS);
    jest.useRealTimers();
    await until(() => runs.length === 1);
  });
});
