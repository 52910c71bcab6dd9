import type { AuthService, LoggerService } from '@backstage/backend-plugin-api';
import {
  ANNOTATION_ORIGIN_LOCATION,
  type Entity,
  stringifyEntityRef,
} from '@backstage/catalog-model';
import type {
  CatalogService,
  EntityProvider,
  EntityProviderConnection,
} from '@backstage/plugin-catalog-node';
import type { EventsService } from '@backstage/plugin-events-node';
import type { JsonObject } from '@backstage/types';
import { metrics } from '@opentelemetry/api';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChangedNames,
  CursorExpiredError,
  type DirectoryReader,
  eachOf,
} from './DirectoryReader';
import { DIRECTORY_ENTITY_LOCATION } from '@directory-gateway/backstage-plugin-directory-common';
import { digestOf, rewritten, type EntityOptions } from './entities';
import type { DirectoryTransforms } from './extensionPoint';
import { Organization } from './Organization';

/** Duration of a run in milliseconds. Another process may run afterwards. */
export const RUN_MS = 5 * 60_000;

/** Maximum lag between instances of the portal, in milliseconds. */
const SETTLE_MS = 3000;

/**
 * Interval of reconciliations while the change log is unavailable, in
 * milliseconds. All entities are also compared when reading changes has failed
 * for this long.
 */
const UNLOGGED_INTERVAL_MS = 20_000;

/**
 * Maximum number of entries that are read one by one; more cause a
 * reconciliation.
 */
const MAX_READS = 500;

/** Maximum number of entities in a mutation. */
const ENTITIES_PER_MUTATION = 1000;

/** Number of removals that are always applied. */
const MIN_REMOVALS = 10;

/**
 * Time until entities written by a reconciliation are looked up, in
 * milliseconds.
 */
const CONFIRM_MS = 15_000;

/**
 * Maximum pause between lookups without progress, in milliseconds. Lookups then
 * end.
 */
const MAX_CONFIRM_MS = 15 * 60_000;

const WAIT_SECONDS = 30;

/**
 * Pause after a failure and between attempts to follow changes, in
 * milliseconds. It doubles up to the maximum while failures continue.
 */
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 10_000;

/** Topic of Backstage's events after which search indexes are outdated. */
const TOPIC = 'catalog.directory.users';

/** Options of {@link DirectoryEntityProvider}. */
export interface DirectoryEntityProviderOptions extends EntityOptions {
  readonly auth: AuthService;
  readonly catalog: CatalogService;
  readonly events: Pick<EventsService, 'publish'>;
  readonly logger: LoggerService;
  readonly reader: DirectoryReader;
  readonly transforms: DirectoryTransforms;
  readonly rejectRemovalsAbovePercentage: number;
  readonly reconciliationIntervalMs: number;
  /** Maximum lag between instances, in milliseconds. Default: 3000. */
  readonly settleMs?: number;
  /**
   * Interval of reconciliations without a change log, in milliseconds. Default:
   * 20000.
   */
  readonly unloggedIntervalMs?: number;
  /**
   * Time until written entities are looked up, in milliseconds. Default: 15000.
   */
  readonly confirmMs?: number;
  /**
   * Pause after a failure and between attempts to follow changes, in
   * milliseconds. Default: 1000.
   */
  readonly pauseMs?: number;
}

/** Deletions that are applied after a second read of the names. */
interface PendingDeletions {
  /** Time at which the last deletion was found. */
  readonly at: number;
  readonly changed: ChangedNames;
  readonly refs: ReadonlySet<string>;
}

/** Content of the catalog, and the position in the change log. */
interface FollowedState {
  readonly organization: Organization;
  /** Digests by reference. */
  readonly applied: Map<string, string>;
  /** Position in the change log; `undefined` when changes are not logged. */
  cursor: string | undefined;
  /** Whether the change log is temporarily unavailable. */
  readonly isUnlogged: boolean;
  /** Changes to read again, because another instance may lag behind. */
  readonly unsettled: { readonly at: number; readonly changed: ChangedNames }[];
  /** References of catalog entities that the directory does not have. */
  missing: ReadonlySet<string>;
  deletions: PendingDeletions | undefined;
  reconcileAt: number;
  /**
   * References of entities that a reconciliation has written but the catalog
   * may not show yet.
   */
  readonly unconfirmed: Set<string>;
  confirmAt: number;
  confirmPauseMs: number;
}

/**
 * Keeps the users and groups in the catalog equal to those in the directory.
 * Writes only differences, which it finds by the digests of the entities in the
 * catalog and then by the change log.
 */
export class DirectoryEntityProvider implements EntityProvider {
  readonly #options: DirectoryEntityProviderOptions;
  readonly #mutations = metrics
    .getMeter('catalog')
    .createCounter('catalog.directory.entities', {
      description: 'Directory entities written to or removed from the catalog',
    });
  #connection: EntityProviderConnection | undefined;
  #state: FollowedState | undefined;
  /** Entities that the last reconciliation did not find but kept. */
  #missing: ReadonlySet<string> = new Set();
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Time of the first failure since the last success. */
  #failedAt: number | undefined;
  /** Number of missing entities that are kept because they are too many. */
  #rejectedRemovals = 0;
  #reported = '';

  constructor(options: DirectoryEntityProviderOptions) {
    this.#options = options;
    metrics
      .getMeter('catalog')
      .createObservableGauge('catalog.directory.removals.rejected', {
        description:
          'Entities that are not removed because too many would be removed',
      })
      .addCallback(result => result.observe(this.#rejectedRemovals));
  }

  get #settleMs(): number {
    return this.#options.settleMs ?? SETTLE_MS;
  }

  get #unloggedIntervalMs(): number {
    const { unloggedIntervalMs = UNLOGGED_INTERVAL_MS } = this.#options;
    return Math.min(unloggedIntervalMs, this.#options.reconciliationIntervalMs);
  }

  get #confirmMs(): number {
    return this.#options.confirmMs ?? CONFIRM_MS;
  }

  get #pauseMs(): number {
    return this.#options.pauseMs ?? PAUSE_MS;
  }

  getProviderName(): string {
    return 'directory';
  }

  async connect(connection: EntityProviderConnection): Promise<void> {
    this.#connection = connection;
  }

  /**
   * Follows the directory for five minutes or until the signal is aborted. Does
   * nothing after {@link stop}.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#running = this.#run(AbortSignal.any([signal, this.#stopped.signal]));
    await this.#running;
  }

  /** Ends {@link run} and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const endsAt = performance.now() + RUN_MS;
    let pauseMs = this.#pauseMs;
    while (!signal.aborted && performance.now() < endsAt) {
      try {
        await this.#step(signal, endsAt);
        this.#failedAt = undefined;
        pauseMs = this.#pauseMs;
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        const now = performance.now();
        if (error instanceof CursorExpiredError) {
          this.#state = undefined;
        } else if (this.#failedAt === undefined) {
          this.#failedAt = now;
          this.#options.logger.warn(
            `Users and groups in the catalog are not updated: ${error}`,
          );
        }
        const failedMs = now - (this.#failedAt ?? now);
        if (failedMs >= this.#unloggedIntervalMs) {
          // Entities can still be compared if only the change log is
          // unavailable.
          this.#state = undefined;
        }
        await pause(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  async #step(signal: AbortSignal, endsAt: number): Promise<void> {
    const state = this.#state;
    const now = performance.now();
    if (!this.#connection || !state || now >= state.reconcileAt) {
      await this.#reconcile(signal);
      return;
    }
    const confirmAt = state.unconfirmed.size > 0 ? state.confirmAt : Infinity;
    if (now >= confirmAt) {
      await this.#confirm(state);
      return;
    }
    const nextAt = Math.min(state.reconcileAt, confirmAt);
    if (state.cursor === undefined) {
      const untilMs = Math.min(endsAt, nextAt) - now;
      if (!state.isUnlogged) {
        await pause(untilMs, signal);
        return;
      }
      await pause(Math.min(untilMs, this.#pauseMs), signal);
      const { cursor } = await this.#options.reader.presentCursor(signal);
      if (cursor !== undefined) {
        state.reconcileAt = performance.now();
      }
      return;
    }
    const [unsettled] = state.unsettled;
    if (unsettled && now - unsettled.at >= this.#settleMs) {
      const { changed } = unsettled;
      await this.#readChanged(state, { changed, signal });
      state.unsettled.shift();
      return;
    }
    const { deletions } = state;
    if (deletions && now - deletions.at >= this.#settleMs) {
      const { changed, refs: confirmed } = deletions;
      await this.#readChanged(state, { changed, confirmed, signal });
      return;
    }
    const waitMs = unsettled || deletions ? this.#settleMs : nextAt - now;
    const changed = await this.#options.reader.changesAfter(state.cursor, {
      waitSeconds: Math.min(Math.ceil(waitMs / 1000), WAIT_SECONDS),
      signal,
    });
    await this.#readChanged(state, { changed, signal });
    if (countOf(changed) > 0) {
      state.unsettled.push({ at: performance.now(), changed });
    }
    // After an earlier failure, these changes are read again.
    state.cursor = changed.cursor;
  }

  /** Compares all directory entities with those in the catalog. */
  async #reconcile(signal: AbortSignal): Promise<void> {
    const { logger, reader, reconciliationIntervalMs } = this.#options;
    const startedAt = performance.now();
    const start = await reader.presentCursor(signal);
    const isUnlogged = start.cursor === undefined && start.isTemporary;
    if (start.cursor !== undefined) {
      // The instance that serves the reads may lag behind the one that returned
      // the cursor.
      await pause(this.#settleMs, signal);
    } else if (!isUnlogged && !this.#state) {
      logger.info(
        'The directory does not log changes: users and groups in the catalog are updated only at the reconciliation interval. Set directory.changes to follow changes',
      );
    }
    const directory = await reader.readAll(signal);
    if (directory.users.size === 0) {
      throw new Error('The directory has no users');
    }
    const organization = new Organization(directory, this.#options);
    const applied = await this.#readApplied();
    const state: FollowedState = {
      organization,
      applied,
      cursor: start.cursor,
      isUnlogged,
      unsettled: [],
      missing: this.#missing,
      deletions: undefined,
      reconcileAt:
        performance.now() +
        (isUnlogged ? this.#unloggedIntervalMs : reconciliationIntervalMs),
      unconfirmed: new Set(),
      confirmAt: performance.now() + this.#confirmMs,
      confirmPauseMs: this.#confirmMs,
    };
    const { appeared, ...counts } = await this.#apply(state, {
      confirmed: this.#missing,
      missing: new Set(applied.keys()),
      onWritten: ref => state.unconfirmed.add(ref),
    });
    // Entities are removed only when two reconciliations do not find them.
    this.#missing = appeared.length > 0 ? state.missing : new Set();
    if (appeared.length > 0) {
      state.reconcileAt = performance.now() + this.#settleMs;
    }
    this.#state = state;
    logger.info(
      'Reconciled users and groups in the catalog with the directory',
      {
        users: directory.users.size,
        groups: directory.groups.size,
        ...counts,
        seconds: Math.round(performance.now() - startedAt) / 1000,
      },
    );
  }

  /**
   * Reads changed entries and applies the differences.
   *
   * @param options - `confirmed`: entities to remove if they are not found
   *   again
   */
  async #readChanged(
    state: FollowedState,
    options: {
      readonly changed: ChangedNames;
      readonly confirmed?: ReadonlySet<string>;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { changed, confirmed = new Set(), signal } = options;
    const count = countOf(changed);
    if (count === 0) {
      return;
    }
    // Without a state, a failure leads to a reconciliation.
    this.#state = undefined;
    if (count > MAX_READS) {
      await this.#reconcile(signal);
      return;
    }
    const { reader } = this.#options;
    const { organization } = state;
    const before = organization.largeGroups;
    const groups = new Set([...changed.groups, ...changed.membersOf]);
    // Renaming a group is not a change to its members, who are therefore read
    // as well.
    const users = new Set([
      ...changed.users,
      ...organization.usersIn(changed.groups),
    ]);
    await eachOf(groups, async name => {
      organization.setGroup(name, await reader.readGroup(name, { signal }));
    });
    const largeGroups = organization.largeGroups;
    if (!isEqual(before, largeGroups)) {
      // The members of a group gain or lose their relations.
      await this.#reconcile(signal);
      return;
    }
    await eachOf(users, async name => {
      const user = await reader.readUser(name, { signal, largeGroups });
      organization.setUser(name, user);
    });
    const { appeared } = await this.#apply(state, {
      confirmed,
      missing: new Set(state.missing),
    });
    if (appeared.length > 0) {
      // If the directory is being emptied, nothing is removed before the
      // directory suspends reads.
      const { changed: others, refs = [] } = state.deletions ?? {};
      state.deletions = {
        at: performance.now(),
        changed: others ? union(others, changed) : changed,
        refs: new Set([...refs, ...appeared]),
      };
    } else if (options.confirmed) {
      state.deletions = undefined;
    }
    this.#state = state;
  }

  /**
   * Looks up entities that a reconciliation has written, and rewrites those
   * that the catalog does not show. A killed process may have taken them from
   * the queue, to which they return only after the processing interval, or
   * processed them without stitching, which the catalog repeats only when their
   * content changes.
   */
  async #confirm(state: FollowedState): Promise<void> {
    const { auth, catalog } = this.#options;
    const { applied, organization, unconfirmed } = state;
    const entityRefs = [...unconfirmed].slice(0, ENTITIES_PER_MUTATION);
    const { items } = await catalog.getEntitiesByRefs(
      { entityRefs, fields: ['metadata.annotations'] },
      { credentials: await auth.getOwnServiceCredentials() },
    );
    const outdated = entityRefs.filter((ref, index) => {
      const entity = items[index];
      const expected = applied.get(ref);
      return (
        expected !== undefined && expected !== (entity && digestOf(entity))
      );
    });
    const remaining = new Set(outdated);
    entityRefs
      .filter(ref => !remaining.has(ref))
      .forEach(ref => unconfirmed.delete(ref));
    if (outdated.length < entityRefs.length) {
      // The catalog is still processing entities.
      state.confirmPauseMs = this.#confirmMs;
    } else {
      const entities = await Promise.all(
        outdated.map(async ref => await organization.entityOf(ref)),
      );
      await this.#mutate({
        added: entities.flatMap(entity => (entity ? [rewritten(entity)] : [])),
        removed: [],
      });
      state.confirmPauseMs *= 2;
      if (state.confirmPauseMs > MAX_CONFIRM_MS) {
        unconfirmed.clear();
      }
    }
    state.confirmAt = performance.now() + state.confirmPauseMs;
  }

  /** Returns the digests of the entities in the catalog by reference. */
  async #readApplied(): Promise<Map<string, string>> {
    const { auth, catalog } = this.#options;
    const applied = new Map<string, string>();
    const pages = catalog.streamEntities(
      {
        filter: {
          kind: ['User', 'Group'],
          [`metadata.annotations.${ANNOTATION_ORIGIN_LOCATION}`]:
            DIRECTORY_ENTITY_LOCATION,
        },
        fields: [
          'kind',
          'metadata.namespace',
          'metadata.name',
          'metadata.annotations',
        ],
      },
      { credentials: await auth.getOwnServiceCredentials() },
    );
    for await (const page of pages) {
      for (const entity of page) {
        applied.set(stringifyEntityRef(entity), digestOf(entity) ?? '');
      }
    }
    return applied;
  }

  /**
   * Writes differences and removes missing entities that are confirmed, unless
   * other entities are newly missing.
   *
   * @param options - `missing`: entities that are missing unless found now;
   *   `onWritten`: called for each written entity
   */
  async #apply(
    state: FollowedState,
    options: {
      readonly confirmed: ReadonlySet<string>;
      readonly missing: Set<string>;
      readonly onWritten?: (ref: string) => void;
    },
  ) {
    const { organization, applied } = state;
    const { confirmed, missing, onWritten } = options;
    const slice = new Map<string, Entity>();
    let written = 0;
    const write = async () => {
      await this.#mutate({ added: [...slice.values()], removed: [] });
      written += slice.size;
      slice.clear();
    };
    for await (const [ref, entity] of organization.updates()) {
      if (!entity) {
        slice.delete(ref);
        if (applied.has(ref)) {
          missing.add(ref);
        }
        continue;
      }
      missing.delete(ref);
      const digest = digestOf(entity)!;
      if (applied.get(ref) !== digest) {
        slice.set(ref, entity);
        applied.set(ref, digest);
        onWritten?.(ref);
        if (slice.size === ENTITIES_PER_MUTATION) {
          await write();
        }
      }
    }
    await write();
    this.#report(organization.problems);
    const appeared = [...missing].filter(ref => !state.missing.has(ref));
    const removable =
      appeared.length === 0
        ? [...missing].filter(ref => confirmed.has(ref))
        : [];
    const mayRemove = this.#mayRemove(removable.length, applied.size);
    const removed = mayRemove ? removable : [];
    if (missing.size === removed.length) {
      this.#rejectedRemovals = 0;
    }
    await this.#mutate({ added: [], removed });
    removed.forEach(ref => applied.delete(ref) && missing.delete(ref));
    state.missing = missing;
    return { written, removed: removed.length, appeared };
  }

  async #mutate({
    added,
    removed,
  }: {
    readonly added: readonly Entity[];
    readonly removed: readonly string[];
  }): Promise<void> {
    if (added.length === 0 && removed.length === 0) {
      return;
    }
    const { auth, catalog, events, logger } = this.#options;
    const { items: before } = await catalog.getEntitiesByRefs(
      {
        entityRefs: added.map(entity => stringifyEntityRef(entity)),
        fields: ['spec.profile'],
      },
      { credentials: await auth.getOwnServiceCredentials() },
    );
    const locationKey = DIRECTORY_ENTITY_LOCATION;
    await this.#connection!.applyMutation({
      type: 'delta',
      added: added.map(entity => ({ entity, locationKey })),
      removed: removed.map(entityRef => ({ entityRef, locationKey })),
    });
    this.#mutations.add(added.length, { change: 'written' });
    this.#mutations.add(removed.length, { change: 'removed' });
    const isNameChanged = added.some(
      (entity, index) =>
        before[index] !== undefined &&
        entity.kind === 'User' &&
        shownNames(before[index]) !== shownNames(entity),
    );
    if (isNameChanged || removed.some(ref => ref.startsWith('user:'))) {
      events
        .publish({ topic: TOPIC, eventPayload: {} })
        .catch(error =>
          logger.warn(`Changed users could not be published: ${error}`),
        );
    }
  }

  #mayRemove(count: number, known: number): boolean {
    const { logger, rejectRemovalsAbovePercentage: maximum } = this.#options;
    const isRejected = count > MIN_REMOVALS && count > (known * maximum) / 100;
    if (isRejected && this.#rejectedRemovals === 0) {
      logger.error(
        `${count} of ${known} users and groups would be removed from the catalog, which is more than ${maximum} %: none are removed. If the deletions are intended, raise catalog.providers.directory.rejectRemovalsAbovePercentage for one start`,
      );
    }
    if (isRejected) {
      this.#rejectedRemovals = count;
    }
    return !isRejected;
  }

  /** Logs new problems. */
  #report({
    cycles,
    collisions,
  }: {
    readonly cycles: readonly string[];
    readonly collisions: readonly string[];
  }): void {
    const problems = [
      ...cycles.map(cycle => `a cycle of groups is cut at ${cycle}`),
      ...collisions.map(
        name => `${name} has the same entity name as another user or group`,
      ),
    ].join('; ');
    if (problems !== '' && problems !== this.#reported) {
      this.#options.logger.warn(
        `The catalog cannot represent the directory: ${problems}`,
      );
    }
    this.#reported = problems;
  }
}

function countOf({ users, groups, membersOf }: ChangedNames): number {
  return users.size + groups.size + membersOf.size;
}

function union(a: ChangedNames, b: ChangedNames): ChangedNames {
  return {
    users: new Set([...a.users, ...b.users]),
    groups: new Set([...a.groups, ...b.groups]),
    membersOf: new Set([...a.membersOf, ...b.membersOf]),
    cursor: b.cursor,
  };
}

function isEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every(name => b.has(name));
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(ms, 0), undefined, { signal, ref: false }).catch(
    () => {},
  );
}

/** Returns the name and the e-mail address of a user for comparisons. */
function shownNames({ spec }: Entity): string {
  const { displayName, email } = (spec?.profile ?? {}) as JsonObject;
  return JSON.stringify([displayName, email]);
}
