import type { AuthService, LoggerService } from '@backstage/backend-plugin-api';
import {
  ANNOTATION_ORIGIN_LOCATION,
  type Entity,
  stringifyEntityRef,
} from '@backstage/catalog-model';
import type {
  CatalogService,
  EntityProviderConnection,
} from '@backstage/plugin-catalog-node';
import type { EventsService } from '@backstage/plugin-events-node';
import type { JsonObject } from '@backstage/types';
import { DIRECTORY_ENTITY_LOCATION } from '@directory-gateway/backstage-plugin-directory-common';
import { metrics } from '@opentelemetry/api';
import { digestOf, type EntryKey, keyOf, stamped } from './entities';

/** Number of removals that are always applied. */
const MIN_REMOVALS = 10;

/** Topic of Backstage's events after which search indexes are outdated. */
const TOPIC = 'catalog.directory.users';

/** Options of {@link CatalogEntities}. */
export interface CatalogEntitiesOptions {
  readonly auth: AuthService;
  readonly catalog: CatalogService;
  readonly events: Pick<EventsService, 'publish'>;
  readonly logger: LoggerService;
  readonly rejectRemovalsAbovePercentage: number;
}

/**
 * The entities of the directory in the catalog. Writes those that differ, and
 * removes those that two reads of the directory missed.
 */
export class CatalogEntities {
  readonly #options: CatalogEntitiesOptions;
  readonly #connection: () => EntityProviderConnection;
  readonly #mutations = metrics
    .getMeter('catalog')
    .createCounter('catalog.directory.entities', {
      description: 'Directory entities written to or removed from the catalog',
    });
  /** By reference. */
  readonly #entities = new Map<string, { key: EntryKey; digest: string }>();
  /** References by user or group, if the last read found it. */
  readonly #refs = new Map<EntryKey, string>();
  /** References that the last read missed. */
  readonly #missing = new Set<string>();
  #missingSince = 0;
  /** Users and groups whose reference another one has. */
  readonly #colliding = new Set<EntryKey>();
  /** Number of missing entities that are kept because they are too many. */
  #rejectedRemovals = 0;

  constructor(
    options: CatalogEntitiesOptions & {
      readonly connection: () => EntityProviderConnection;
    },
  ) {
    this.#options = options;
    this.#connection = options.connection;
    metrics
      .getMeter('catalog')
      .createObservableGauge('catalog.directory.removals.rejected', {
        description:
          'Entities that are not removed because too many would be removed',
      })
      .addCallback(result => result.observe(this.#rejectedRemovals));
  }

  /** Users and groups whose reference another one has. */
  get colliding(): ReadonlySet<EntryKey> {
    return this.#colliding;
  }

  /** Reads all entities from the catalog. */
  async load(): Promise<void> {
    const { auth, catalog } = this.#options;
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
    [this.#entities, this.#refs, this.#missing, this.#colliding].forEach(each =>
      each.clear(),
    );
    for await (const page of pages) {
      for (const entity of page) {
        const ref = stringifyEntityRef(entity);
        const key = keyOf(entity);
        this.#entities.set(ref, { key, digest: digestOf(entity) });
        this.#refs.set(key, ref);
      }
    }
  }

  /** Reads again what the catalog shows of users and groups. */
  async refresh(keys: Iterable<EntryKey>): Promise<void> {
    const { auth, catalog } = this.#options;
    const entityRefs = [...keys].flatMap(key => this.#refs.get(key) ?? []);
    if (entityRefs.length === 0) {
      return;
    }
    const { items } = await catalog.getEntitiesByRefs(
      { entityRefs, fields: ['metadata.annotations'] },
      { credentials: await auth.getOwnServiceCredentials() },
    );
    entityRefs.forEach((ref, index) => {
      this.#entities.get(ref)!.digest = digestOf(items[index]);
    });
  }

  /**
   * Writes the entities of users and groups that differ, and notes the ones
   * that are missing. Returns the number of written entities.
   */
  async update(
    read: ReadonlyMap<EntryKey, Entity | undefined>,
  ): Promise<number> {
    const refs = new Map(
      [...read].map(([key, entity]) => [
        key,
        entity && stringifyEntityRef(entity),
      ]),
    );
    // First, because a renamed user may keep the reference.
    for (const [key, ref] of refs) {
      const known = this.#refs.get(key);
      if (known !== undefined && known !== ref) {
        this.#miss(key, known);
      }
      this.#colliding.delete(key);
    }
    const changed: Entity[] = [];
    for (const [key, entity] of read) {
      if (entity && this.#claim(key, refs.get(key)!)) {
        const { digest } = this.#entities.get(refs.get(key)!)!;
        if (digest !== digestOf(entity)) {
          changed.push(entity);
        }
      }
    }
    if (changed.length > 0) {
      await this.#write(changed);
    }
    return changed.length;
  }

  /** Notes all users and groups as missing that a complete read did not find. */
  missUnless(isFound: (key: EntryKey) => boolean): void {
    for (const [ref, { key }] of this.#entities) {
      if (!isFound(key) || this.#refs.get(key) !== ref) {
        this.#miss(key, ref);
      }
    }
  }

  /**
   * Returns entities to remove if the directory, read again, still misses them,
   * by reference. None if there are too many, or if an entity went missing
   * within `settleMs`: while the directory is being emptied, nothing is removed
   * before it suspends reads.
   */
  removable(options: {
    readonly settleMs: number;
    readonly limit: number;
  }): ReadonlyMap<string, EntryKey> {
    const { settleMs, limit } = options;
    const isSettled = performance.now() - this.#missingSince >= settleMs;
    const refs = this.#mayRemove() && isSettled ? [...this.#missing] : [];
    return new Map(
      refs.slice(0, limit).map(ref => [ref, this.#entities.get(ref)!.key]),
    );
  }

  /** Removes these entities, unless they were found or others went missing. */
  async remove(
    candidates: ReadonlyMap<string, EntryKey>,
    options: { readonly settleMs: number },
  ): Promise<number> {
    const limit = candidates.size;
    const removed = [...this.removable({ ...options, limit }).keys()].filter(
      ref => candidates.has(ref),
    );
    if (removed.length > 0) {
      await this.#connection().applyMutation({
        type: 'delta',
        added: [],
        removed: removed.map(entityRef => ({
          entityRef,
          locationKey: DIRECTORY_ENTITY_LOCATION,
        })),
      });
      for (const ref of removed) {
        this.#entities.delete(ref);
        this.#missing.delete(ref);
      }
      this.#mutations.add(removed.length, { change: 'removed' });
      if (removed.some(ref => ref.startsWith('user:'))) {
        this.#publish();
      }
    }
    return removed.length;
  }

  #miss(key: EntryKey, ref: string): void {
    if (this.#refs.get(key) === ref) {
      this.#refs.delete(key);
    }
    this.#missing.add(ref);
    this.#missingSince = performance.now();
  }

  /** Returns whether an entry has a reference; the first one keeps it. */
  #claim(key: EntryKey, ref: string): boolean {
    const owner = this.#entities.get(ref);
    if (owner && owner.key !== key && this.#refs.get(owner.key) === ref) {
      this.#colliding.add(key);
      return false;
    }
    this.#entities.set(ref, { key, digest: owner?.digest ?? '' });
    this.#refs.set(key, ref);
    this.#missing.delete(ref);
    return true;
  }

  async #write(changed: readonly Entity[]): Promise<void> {
    const { auth, catalog } = this.#options;
    const entityRefs = changed
      .filter(entity => entity.kind === 'User')
      .map(entity => stringifyEntityRef(entity))
      .filter(ref => this.#entities.get(ref)!.digest !== '');
    const before = new Map<string, Entity | undefined>();
    if (entityRefs.length > 0) {
      const { items } = await catalog.getEntitiesByRefs(
        { entityRefs, fields: ['spec.profile'] },
        { credentials: await auth.getOwnServiceCredentials() },
      );
      entityRefs.forEach((ref, index) => before.set(ref, items[index]));
    }
    await this.#connection().applyMutation({
      type: 'delta',
      added: changed.map(entity => ({
        entity: stamped(entity),
        locationKey: DIRECTORY_ENTITY_LOCATION,
      })),
      removed: [],
    });
    this.#mutations.add(changed.length, { change: 'written' });
    let isNameChanged = false;
    for (const entity of changed) {
      const ref = stringifyEntityRef(entity);
      this.#entities.get(ref)!.digest = digestOf(entity);
      const shown = before.get(ref);
      isNameChanged ||= shown !== undefined && !haveSameNames(shown, entity);
    }
    if (isNameChanged) {
      this.#publish();
    }
  }

  #publish(): void {
    const { events, logger } = this.#options;
    events
      .publish({ topic: TOPIC, eventPayload: {} })
      .catch(error =>
        logger.warn(`Changed users could not be published: ${error}`),
      );
  }

  #mayRemove(): boolean {
    const { logger, rejectRemovalsAbovePercentage: maximum } = this.#options;
    const count = this.#missing.size;
    const known = this.#entities.size;
    const isRejected = count > MIN_REMOVALS && count > (known * maximum) / 100;
    if (isRejected && this.#rejectedRemovals === 0) {
      logger.error(
        `${count} of ${known} users and groups would be removed from the catalog, which is more than ${maximum} %: none are removed. If the deletions are intended, raise catalog.providers.directory.rejectRemovalsAbovePercentage for one start`,
      );
    }
    this.#rejectedRemovals = isRejected ? count : 0;
    return !isRejected;
  }
}

/** Whether two users have the same name and e-mail address. */
function haveSameNames(...users: readonly [Entity, Entity]): boolean {
  const [before, after] = users.map(({ spec }) => {
    const { displayName, email } = (spec?.profile ?? {}) as JsonObject;
    return JSON.stringify([displayName, email]);
  });
  return before === after;
}
