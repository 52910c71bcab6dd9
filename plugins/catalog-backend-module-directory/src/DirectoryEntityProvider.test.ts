import { mockServices } from '@backstage/backend-test-utils';
import { type Entity, stringifyEntityRef } from '@backstage/catalog-model';
import type {
  CatalogService,
  EntityProviderMutation,
} from '@backstage/plugin-catalog-node';
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import {
  DirectoryEntityProvider,
  type DirectoryEntityProviderOptions,
} from './DirectoryEntityProvider';
import { CursorExpiredError, type DirectoryReader } from './DirectoryReader';
import {
  digestOf,
  type DirectoryGroup,
  type DirectoryTransforms,
  type DirectoryUser,
  type EntryKey,
} from './entities';

jest.setTimeout(120_000);

/** A directory and its change log, as returned by the reader. */
class TestDirectory {
  readonly users = new Map<string, DirectoryUser>();
  readonly groups = new Map<string, DirectoryGroup>();
  /** Names of changed entries, in order. */
  readonly log: EntryKey[] = [];
  isAvailable = true;
  isExpired = false;
  failsToReadUsers = false;
  /** Number of full reads. */
  fullReads = 0;
  /** Called when a missing user is read. */
  onMissing = () => {};
  /** Called when a request finds no changes. */
  onIdle = () => {};

  setUser(
    username: string,
    groups: readonly string[] = [],
    humanName?: string,
  ) {
    this.users.set(username, { username, humanName, groups });
    this.log.push(`user:${username}`);
  }

  setGroup(
    groupname: string,
    options: { memberGroups?: readonly string[]; isLarge?: boolean } = {},
  ) {
    const { memberGroups = [], isLarge = false } = options;
    this.groups.set(groupname, { groupname, memberGroups, isLarge });
    this.log.push(`group:${groupname}`);
  }

  /** The log does not name the groups that contained the group. */
  deleteGroup(name: string) {
    this.#replaceMember(name);
    this.groups.delete(name);
    this.log.push(`group:${name}`);
  }

  /** The log does not name the groups that contain the group. */
  renameGroup(oldName: string, groupname: string) {
    const group = this.groups.get(oldName)!;
    this.groups.delete(oldName);
    this.groups.set(groupname, { ...group, groupname });
    this.#replaceMember(oldName, groupname);
    for (const user of this.users.values()) {
      const groups = replaced(user.groups, oldName, groupname);
      this.users.set(user.username, { ...user, groups });
    }
    this.log.push(`group:${oldName}`, `group:${groupname}`);
  }

  #replaceMember(oldName: string, newName?: string) {
    for (const group of this.groups.values()) {
      const memberGroups = replaced(group.memberGroups, oldName, newName);
      this.groups.set(group.groupname, { ...group, memberGroups });
    }
  }

  deleteUser(name: string) {
    this.users.delete(name);
    this.log.push(`user:${name}`);
  }

  #read<T>(value: T): T {
    if (!this.isAvailable) {
      throw new Error('503');
    }
    return value;
  }

  get reader() {
    const groupsOf = ({ groups }: DirectoryUser) =>
      [...new Set(groups)].filter(name => this.groups.has(name)).sort();
    const readGroup = (group: DirectoryGroup) => ({
      group,
      members: group.isLarge
        ? []
        : [...this.users.values()]
            .filter(({ groups }) => groups.includes(group.groupname))
            .map(({ username }) => username),
    });
    const users = () => {
      if (this.failsToReadUsers) {
        throw new Error('503');
      }
      return this.#read(this.users);
    };
    const reader: Partial<DirectoryReader> = {
      readGroups: async () => {
        this.fullReads++;
        return this.#read([...this.groups.values()].map(readGroup));
      },
      async *readUsers(groupsOfUser) {
        for (const user of users().values()) {
          yield { ...user, groups: groupsOfUser(user.username) };
        }
      },
      readUser: async name => {
        const user = users().get(name);
        if (!user) {
          this.onMissing();
        }
        return user && { ...user, groups: groupsOf(user) };
      },
      readGroup: async name => {
        const group = this.#read(this.groups.get(name));
        return group && readGroup(group);
      },
      readChanges: async cursor => {
        this.#read(undefined);
        const end = { cursor: String(this.log.length), hasMore: false };
        if (cursor === undefined) {
          return { ...end, keys: new Set() };
        }
        if (this.isExpired) {
          this.isExpired = false;
          throw new CursorExpiredError('expired');
        }
        const keys = new Set(this.log.slice(Number(cursor)));
        if (keys.size === 0) {
          this.onIdle();
        }
        return { ...end, keys };
      },
    };
    return reader as DirectoryReader;
  }
}

/** A catalog that applies mutations immediately. */
class TestCatalog {
  readonly entities = new Map<string, Entity>();
  readonly mutations: EntityProviderMutation[] = [];
  /** Entities that appear only when they are written again with a change. */
  readonly stuck = new Map<string, Entity | undefined>();

  async applyMutation(mutation: EntityProviderMutation) {
    if (mutation.type === 'full') {
      throw new Error('full mutation');
    }
    this.mutations.push(mutation);
    for (const { entity } of mutation.added) {
      const ref = stringifyEntityRef(entity);
      if (this.stuck.has(ref)) {
        const before = this.stuck.get(ref);
        this.stuck.set(ref, entity);
        if (!before || isDeepStrictEqual(before, entity)) {
          continue;
        }
        this.stuck.delete(ref);
      }
      this.entities.set(ref, entity);
    }
    for (const removed of mutation.removed) {
      this.entities.delete((removed as { entityRef: string }).entityRef);
    }
  }

  get service() {
    const entities = this.entities;
    const service: Partial<CatalogService> = {
      async *streamEntities() {
        yield [...entities.values()];
      },
      getEntitiesByRefs: async ({ entityRefs }) => ({
        items: entityRefs.map(ref => entities.get(ref)),
      }),
    };
    return service as CatalogService;
  }

  spec(ref: string) {
    return this.entities.get(ref)?.spec;
  }
}

/** Replaces a name in a list, or removes it. */
function replaced(names: readonly string[], oldName: string, newName?: string) {
  return names
    .map(name => (name === oldName ? newName : name))
    .filter(name => name !== undefined);
}

const usernameOf = ({ metadata }: Entity) =>
  metadata.annotations!['directory-gateway/username'];

/** Digests by reference. */
function contentOf({ entities }: TestCatalog) {
  return Object.fromEntries(
    [...entities].map(([ref, entity]) => [ref, digestOf(entity)]),
  );
}

async function connect(
  directory: TestDirectory,
  catalog: TestCatalog,
  options: Partial<DirectoryEntityProviderOptions> = {},
) {
  const logger = mockServices.logger.mock();
  const events = mockServices.events.mock({ publish: async () => {} });
  const provider = new DirectoryEntityProvider({
    appUrl: 'https://portal.test',
    auth: mockServices.auth(),
    catalog: catalog.service,
    events,
    logger,
    namespace: 'default',
    reader: directory.reader,
    rejectRemovalsAbovePercentage: 5,
    transforms: {},
    ...options,
    timing: {
      pollMs: 0,
      settleMs: 0,
      retryMs: 0,
      ...options.timing,
    },
  });
  await provider.connect({
    applyMutation: mutation => catalog.applyMutation(mutation),
    refresh: async () => {},
  });
  const logged = () =>
    [logger.info, logger.warn, logger.error]
      .flatMap(log => log.mock.calls.map(([message]) => message))
      .join('\n');
  return {
    events,
    logged,
    logger,
    provider,
    /** Runs until the directory has no more changes. */
    async follow() {
      const ended = new AbortController();
      let idle = 0;
      directory.onIdle = () => {
        // Changes are read again after the first request.
        if (++idle === 4) {
          ended.abort();
        }
      };
      await provider.run(ended.signal);
    },
    /** Runs until a text is logged and a condition is true. */
    async runUntil(text: string, isTrue = () => true) {
      const ended = new AbortController();
      const running = provider.run(ended.signal);
      while (!logged().includes(text) || !isTrue()) {
        await new Promise(resolve => setImmediate(resolve));
      }
      ended.abort();
      await running;
    },
  };
}

function filled(count: number) {
  const directory = new TestDirectory();
  directory.setGroup('staff');
  for (let index = 0; index < count; index++) {
    directory.setUser(`u${index}`, ['staff']);
  }
  return directory;
}

afterEach(() => jest.restoreAllMocks());

describe('DirectoryEntityProvider', () => {
  it('writes all entities once and nothing at the next start', async () => {
    const directory = filled(3);
    const catalog = new TestCatalog();
    await (await connect(directory, catalog)).follow();
    expect([...catalog.entities.keys()].sort()).toEqual([
      'group:default/staff',
      'user:default/u0',
      'user:default/u1',
      'user:default/u2',
    ]);
    expect(catalog.spec('user:default/u0')).toMatchObject({
      memberOf: ['staff'],
    });
    catalog.mutations.length = 0;
    await (await connect(directory, catalog)).follow();
    expect(catalog.mutations).toEqual([]);
  });

  it('writes entities again that the catalog does not show after a comparison', async () => {
    const directory = filled(3);
    const catalog = new TestCatalog();
    catalog.stuck.set('user:default/u1', undefined);
    const timing = { confirmMs: 5 };
    const { runUntil } = await connect(directory, catalog, { timing });
    await runUntil('Reconciled', () => catalog.stuck.size === 0);
    expect([...catalog.entities.keys()]).toContain('user:default/u1');
    expect(catalog.mutations).toHaveLength(2);
    expect(catalog.mutations[1]).toMatchObject({
      added: [{ entity: { metadata: { name: 'u1' } } }],
    });
    await (await connect(directory, catalog)).follow();
    expect(catalog.mutations).toHaveLength(2);
  });

  it('corrects an entity that another process has written from older data', async () => {
    const directory = filled(3);
    const catalog = new TestCatalog();
    // The comparison of the next one, which writes nothing, is not repeated.
    await (await connect(directory, catalog)).follow();
    const timing = { confirmMs: 5 };
    const { follow, runUntil } = await connect(directory, catalog, { timing });
    await follow();
    const { groups } = directory.users.get('u1')!;
    directory.users.set('u1', { username: 'u1', groups: [] });
    await (await connect(directory, catalog)).follow();
    expect(catalog.spec('user:default/u1')).toMatchObject({ memberOf: [] });
    directory.setUser('u1', groups);
    const memberOf = () => catalog.spec('user:default/u1')!.memberOf;
    await runUntil('Reconciled', () => isDeepStrictEqual(memberOf(), groups));
  });

  it('does not follow changes after it has stopped', async () => {
    const directory = filled(2);
    const catalog = new TestCatalog();
    const { provider } = await connect(directory, catalog);
    const running = provider.run(new AbortController().signal);
    await provider.stop();
    await running;
    const { length } = catalog.mutations;
    directory.setUser('late', ['staff']);
    await provider.run(new AbortController().signal);
    expect(catalog.mutations).toHaveLength(length);
  });

  it('has one entity for users with the same reference', async () => {
    const directory = filled(2);
    const catalog = new TestCatalog();
    const transforms: DirectoryTransforms = {
      transformUser: entity => ({
        ...entity,
        metadata: { ...entity.metadata, name: 'same' },
      }),
    };
    const { follow, logged } = await connect(directory, catalog, {
      transforms,
    });
    await follow();
    directory.setUser('u1', [], 'Zoe');
    await follow();
    expect(usernameOf(catalog.entities.get('user:default/same')!)).toBe('u0');
    expect(catalog.entities.size).toBe(2);
    expect(logged()).toContain('user:u1 is not in the catalog');
  });

  it('reads the users of a group of which only direct memberships changed', async () => {
    const directory = filled(2);
    directory.setGroup('nested');
    directory.setGroup('parent', { memberGroups: ['nested'] });
    directory.setUser('u0', ['nested']);
    directory.setUser('u1', ['nested', 'parent']);
    const catalog = new TestCatalog();
    const { follow } = await connect(directory, catalog);
    await follow();
    // The users stay in the group; the log names only the group.
    directory.users.set('u0', { username: 'u0', groups: ['nested', 'parent'] });
    directory.users.set('u1', { username: 'u1', groups: ['nested'] });
    directory.log.push('group:parent');
    await follow();
    expect(catalog.spec('user:default/u0')).toMatchObject({
      memberOf: ['nested', 'parent'],
    });
    expect(catalog.spec('user:default/u1')).toMatchObject({
      memberOf: ['nested'],
    });
  });

  it('publishes an event when a user has another name or none, or is removed', async () => {
    const directory = filled(3);
    directory.setUser('u0', ['staff'], 'Zoe');
    const catalog = new TestCatalog();
    const { events, follow } = await connect(directory, catalog);
    const shown: unknown[] = [];
    events.publish.mockImplementation(async event => {
      expect(event).toEqual({
        topic: 'catalog.directory.users',
        eventPayload: {},
      });
      // The catalog already has the change.
      const entity = catalog.entities.get('user:default/u0');
      shown.push(entity?.metadata.title ?? entity?.kind);
    });
    await follow();
    directory.setUser('u0', ['staff'], 'Zoë');
    await follow();
    directory.setUser('u0', ['staff']);
    await follow();
    directory.deleteUser('u0');
    await follow();
    expect(shown).toEqual(['Zoë', 'User', undefined]);
  });

  it('publishes no event for other changes', async () => {
    const directory = filled(3);
    directory.setGroup('other');
    directory.setUser('u0', ['staff'], 'Zoe');
    const catalog = new TestCatalog();
    const { events, follow } = await connect(directory, catalog);
    await follow();
    directory.setUser('added', ['staff'], 'Added');
    directory.setUser('u0', [], 'Zoe');
    directory.setGroup('staff', { memberGroups: ['other'] });
    await follow();
    directory.setUser('u0', ['other'], 'Zoe');
    directory.deleteGroup('staff');
    await follow();
    expect(catalog.entities.has('group:default/staff')).toBe(false);
    expect(events.publish).not.toHaveBeenCalled();
  });

  it('gives the reference of a deleted user to one who has waited for it', async () => {
    const directory = filled(1);
    directory.setUser('Alice', [], 'Before');
    const catalog = new TestCatalog();
    const { follow, logged } = await connect(directory, catalog);
    await follow();
    directory.setUser('alice', [], 'After');
    await follow();
    expect(logged()).toContain('user:alice is not in the catalog');
    directory.deleteUser('Alice');
    await follow();
    const shown = catalog.entities.get('user:default/alice')!;
    expect(usernameOf(shown)).toBe('alice');
    expect(catalog.mutations.flatMap(({ removed }: any) => removed)).toEqual(
      [],
    );
  });

  it('removes nothing when too many entities would be removed', async () => {
    const directory = filled(100);
    const catalog = new TestCatalog();
    await (await connect(directory, catalog)).follow();
    for (let index = 0; index < 50; index++) {
      directory.users.delete(`u${index}`);
    }
    directory.setUser('added');
    const exporter = new InMemoryMetricExporter(
      AggregationTemporality.CUMULATIVE,
    );
    const reader = new PeriodicExportingMetricReader({ exporter });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const { follow, logged } = await connect(directory, catalog);
    await follow();
    expect(catalog.entities.size).toBe(102);
    expect(logged()).toContain('50 of 102 users and groups would be removed');
    const rejected = async () => {
      await reader.forceFlush();
      const metric = exporter
        .getMetrics()
        .at(-1)!
        .scopeMetrics.flatMap(scope => scope.metrics)
        .find(
          ({ descriptor }) =>
            descriptor.name === 'catalog.directory.removals.rejected',
        );
      return metric?.dataPoints[0].value;
    };
    expect(await rejected()).toBe(50);

    directory.setUser('later');
    await follow();
    expect(catalog.entities.size).toBe(103);
    expect(await rejected()).toBe(50);

    for (let index = 0; index < 50; index++) {
      directory.setUser(`u${index}`, ['staff']);
    }
    await follow();
    expect(await rejected()).toBe(0);
    await reader.shutdown();
    metrics.disable();
  });

  it('removes missing entities when their number falls below the limit', async () => {
    const directory = filled(100);
    const catalog = new TestCatalog();
    await (await connect(directory, catalog)).follow();
    for (let index = 0; index < 50; index++) {
      directory.users.delete(`u${index}`);
    }
    const { follow } = await connect(directory, catalog);
    await follow();
    expect(catalog.entities.size).toBe(101);
    for (let index = 0; index < 48; index++) {
      directory.setUser(`u${index}`, ['staff']);
    }
    await follow();
    expect(catalog.entities.size).toBe(99);
  });

  it.each([
    ['unavailable', 100],
    ['empty', 100],
    ['empty', 5],
  ])(
    'removes nothing while the directory is %s (%i users)',
    async (state, size) => {
      const directory = filled(size);
      const catalog = new TestCatalog();
      await (await connect(directory, catalog)).follow();
      const { runUntil } = await connect(directory, catalog);
      if (state === 'empty') {
        directory.users.clear();
        directory.groups.clear();
      } else {
        directory.isAvailable = false;
      }
      await runUntil('Users and groups in the catalog are not updated');
      expect(catalog.entities.size).toBe(size + 1);
    },
  );

  it.each([
    [0, 60_000],
    [1, 0],
  ])(
    'logs %i warnings while the change log starts for at most %i ms',
    async (warnings, startMs) => {
      const error = Object.assign(new Error('The change log is incomplete'), {
        name: 'DirectoryResponseError',
        status: 503,
      });
      const { logger, runUntil } = await connect(filled(1), new TestCatalog(), {
        reader: {
          readChanges: () => Promise.reject(error),
        } as Partial<DirectoryReader> as DirectoryReader,
        timing: { startMs },
      });
      await runUntil('Users and groups in the catalog are not updated');
      expect(logger.warn).toHaveBeenCalledTimes(warnings);
    },
  );

  it('keeps an entity that only one read of the directory misses', async () => {
    const directory = filled(3);
    const catalog = new TestCatalog();
    const { follow } = await connect(directory, catalog);
    await follow();
    const user = directory.users.get('u0')!;
    let misses = 0;
    directory.onMissing = () => {
      misses++;
      directory.users.set('u0', user);
    };
    directory.deleteUser('u0');
    await follow();
    expect(misses).toBe(1);
    expect(catalog.mutations).toHaveLength(1);
  });

  it('removes nothing while more entities go missing', async () => {
    const directory = filled(5);
    const catalog = new TestCatalog();
    const { follow, runUntil } = await connect(directory, catalog);
    await follow();
    let missing = 0;
    directory.onMissing = () => {
      if (missing++ < 4) {
        directory.deleteUser(`u${missing}`);
      } else {
        directory.isAvailable = false;
      }
    };
    directory.deleteUser('u0');
    await runUntil('Users and groups in the catalog are not updated');
    expect(catalog.entities.size).toBe(6);
  });

  it('removes an entity while other users keep changing', async () => {
    const directory = filled(3);
    const catalog = new TestCatalog();
    const { reader } = directory;
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    let reads = 0;
    const { follow, runUntil } = await connect(directory, catalog, {
      reader: {
        ...reader,
        readChanges: async (cursor, signal) => {
          now.mockReturnValue(2 * ++reads);
          if (cursor !== undefined && !directory.users.has('u0')) {
            directory.setUser('u1', ['staff']);
          }
          return await reader.readChanges(cursor, signal);
        },
      } as DirectoryReader,
      timing: { settleMs: 5 },
    });
    await follow();
    directory.deleteUser('u0');
    const deletedAt = reads;
    await runUntil('Reconciled', () => reads > deletedAt + 20);
    expect(catalog.entities.has('user:default/u0')).toBe(false);
    expect(directory.fullReads).toBe(1);
  });

  it('removes an entity while more than 500 users keep changing', async () => {
    const directory = filled(501);
    const catalog = new TestCatalog();
    const { reader } = directory;
    const { follow, runUntil } = await connect(directory, catalog, {
      reader: {
        ...reader,
        readChanges: async (cursor, signal) => {
          if (!directory.users.has('gone')) {
            directory.log.push(
              ...[...directory.users.keys()].map(
                (name): EntryKey => `user:${name}`,
              ),
            );
          }
          return await reader.readChanges(cursor, signal);
        },
      } as DirectoryReader,
    });
    directory.setUser('gone', ['staff']);
    await follow();
    directory.deleteUser('gone');
    await runUntil('Reconciled', () => directory.fullReads > 3);
    expect(catalog.entities.has('user:default/gone')).toBe(false);
    expect(catalog.entities.size).toBe(502);
  });

  it('keeps the reference of a renamed user', async () => {
    const directory = filled(3);
    directory.setUser('old', ['staff'], 'Zoe');
    const catalog = new TestCatalog();
    const transforms: DirectoryTransforms = {
      transformUser: (entity, { humanName, username }) => ({
        ...entity,
        metadata: { ...entity.metadata, name: humanName ?? username },
      }),
    };
    const { follow } = await connect(directory, catalog, { transforms });
    await follow();
    directory.deleteUser('old');
    directory.setUser('new', ['staff'], 'Zoe');
    await follow();
    expect(usernameOf(catalog.entities.get('user:default/zoe')!)).toBe('new');
    directory.users.delete('new');
    directory.users.set('newest', {
      username: 'newest',
      humanName: 'Zoe',
      groups: ['staff'],
    });
    await (await connect(directory, catalog, { transforms })).follow();
    const shown = catalog.entities.get('user:default/zoe')!;
    expect(usernameOf(shown)).toBe('newest');
    expect(catalog.mutations).not.toContainEqual(
      expect.objectContaining({ removed: [expect.anything()] }),
    );
  });

  it('reads users again after a failure when their group became large', async () => {
    const directory = filled(3);
    const catalog = new TestCatalog();
    const { follow, runUntil } = await connect(directory, catalog);
    await follow();
    directory.setGroup('staff', { isLarge: true });
    directory.failsToReadUsers = true;
    await runUntil('Users and groups in the catalog are not updated');
    directory.failsToReadUsers = false;
    await follow();
    expect(catalog.spec('user:default/u0')).toMatchObject({ memberOf: [] });
  });

  it('reads everything when the cursor has expired', async () => {
    const directory = filled(3);
    const catalog = new TestCatalog();
    const { follow } = await connect(directory, catalog);
    await follow();
    directory.users.delete('u0');
    directory.isExpired = true;
    await follow();
    expect(catalog.entities.has('user:default/u0')).toBe(false);
  });

  it('omits what filters reject and writes what transforms return', async () => {
    const directory = filled(2);
    directory.setGroup('hidden');
    directory.setUser('u2', ['hidden', 'staff']);
    const catalog = new TestCatalog();
    const { follow } = await connect(directory, catalog, {
      transforms: {
        filterUser: ({ username }) => username !== 'u0',
        filterGroup: ({ groupname }) => groupname !== 'hidden',
        transformGroup: entity => ({
          ...entity,
          spec: { ...entity.spec, type: 'department' },
        }),
      },
    });
    await follow();
    expect([...catalog.entities.keys()].sort()).toEqual([
      'group:default/staff',
      'user:default/u1',
      'user:default/u2',
    ]);
    expect(catalog.spec('user:default/u2')).toMatchObject({
      memberOf: ['staff'],
    });
    expect(catalog.spec('group:default/staff')).toMatchObject({
      type: 'department',
    });
  });

  it('has the same entities as a full read after any changes', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const names = fc.uniqueArray(name, { maxLength: 3 });
    const change = fc.oneof(
      fc.record({ kind: fc.constant('user' as const), name, names }),
      fc.record({ kind: fc.constant('deleteUser' as const), name, names }),
      fc.record({ kind: fc.constant('group' as const), name, names }),
      fc.record({ kind: fc.constant('large' as const), name, names }),
      fc.record({ kind: fc.constant('deleteGroup' as const), name, names }),
      fc.record({ kind: fc.constant('renameGroup' as const), name, names }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 6 }),
        async rounds => {
          const directory = filled(1);
          const catalog = new TestCatalog();
          const transforms: DirectoryTransforms = {
            filterGroup: ({ groupname, isLarge }) =>
              groupname !== 'd' || !isLarge,
          };
          const { follow } = await connect(directory, catalog, { transforms });
          await follow();
          for (const round of rounds) {
            for (const { kind, name: changed, names: others } of round) {
              if (kind === 'user') {
                directory.setUser(changed, others);
              } else if (kind === 'deleteUser') {
                directory.deleteUser(changed);
              } else if (kind === 'deleteGroup') {
                directory.deleteGroup(changed);
              } else if (kind === 'renameGroup') {
                const [newName] = others;
                if (
                  newName &&
                  directory.groups.has(changed) &&
                  !directory.groups.has(newName)
                ) {
                  directory.renameGroup(changed, newName);
                }
              } else {
                directory.setGroup(changed, {
                  memberGroups: others,
                  isLarge: kind === 'large',
                });
              }
            }
            await follow();
          }
          const complete = new TestCatalog();
          await (await connect(directory, complete, { transforms })).follow();
          expect(contentOf(catalog)).toEqual(contentOf(complete));
        },
      ),
    );
  });
});
