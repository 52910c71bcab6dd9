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
import { digestOf, type EntryKey, keyOf } from './entities';

/** Number of removals that are always applied. */
const MIN_REMOVALS = 10;

/** Topic of Backstage's events after which search indexes are outdated. */
const TOPIC = 'catalog.directory.users';

/** What is known of an entity in the catalog. */
interface KnownEntity {
  readonly key: EntryKey;
  digest: string;
  /** Name and e-mail address of a user, which searches show. */
  names: string;
}

/** Options of {@link CatalogEntities}. */
export interface CatalogEntitiesOptions {
  readonly auth: AuthService;
  readonly catalog: CatalogService;
  readonly events: Pick<EventsService, 'publish'>;
  readonly logger: LoggerService;
  /** Returns the connection to the catalog. */
  readonly connection: () => EntityProviderConnection;
  readonly rejectRemovalsAbovePercentage: number;
}

/**
 * The entities of the directory in the catalog. Writes those that differ, and
 * removes those that two reads of the directory missed.
 */
export class CatalogEntities {
  readonly #options: CatalogEntitiesOptions;
  readonly #mutations = metrics
    .getMeter('catalog')
    .createCounter('catalog.directory.entities', {
      description: 'Directory entities written to or removed from the catalog',
    });
  /** By reference. */
  readonly #entities = new Map<string, KnownEntity>();
  /** References by user or group, if the last read found it. */
  readonly #refs = new Map<EntryKey, string>();
  /** References that the last read missed. */
  readonly #missing = new Set<string>();
  /** When one of them went missing last. */
  #missingSince = 0;
  /** Users and groups whose reference another one has. */
  readonly #colliding = new Set<EntryKey>();
  /** Number of missing entities that are kept because they are too many. */
  #rejectedRemovals = 0;

  constructor(options: CatalogEntitiesOptions) {
    this.#options = options;
    metrics
      .getMeter('catalog')
      .createObservableGauge('catalog.directory.removals.rejected', {
        description:
          'Entities that are not removed because too many would be removed',
      })
      .addCallback(result => result.observe(this.#rejectedRemovals));
  }

  /**
   * Users and groups whose entities are removed if the next read misses them,
   * and those that may get a reference of them.
   */
  get missing(): readonly EntryKey[] {
    if (!this.#mayRemove() || this.#missing.size === 0) {
      return [];
    }
    const keys = [...this.#missing].map(ref => this.#entities.get(ref)!.key);
    return [...keys, ...this.#colliding];
  }

  /**
   * Reads all entities from the catalog. Those that the last read of the
   * directory missed are still missing.
   */
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
          'spec.profile',
        ],
      },
      { credentials: await auth.getOwnServiceCredentials() },
    );
    this.#entities.clear();
    this.#refs.clear();
    const missing = new Set(this.#missing);
    this.#missing.clear();
    for await (const page of pages) {
      for (const entity of page) {
        const ref = stringifyEntityRef(entity);
        const key = keyOf(entity);
        this.#entities.set(ref, {
          key,
          digest: digestOf(entity),
          names: namesOf(entity),
        });
        if (missing.has(ref) || this.#refs.has(key)) {
          this.#missing.add(ref);
        } else {
          this.#refs.set(key, ref);
        }
      }
    }
  }

  /** Returns the users and groups with an entity that a full read missed. */
  keysWithout(found: ReadonlySet<EntryKey>): readonly EntryKey[] {
    return [...this.#entities.values()]
      .map(({ key }) => key)
      .filter(key => !found.has(key));
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
   * Applies what was read of users and groups: writes entities that differ, and
   * removes those that were already missing in an earlier read, unless others
   * went missing within the last `settleMs`: while the directory is being
   * emptied, nothing is removed before it suspends reads. Returns the users and
   * groups whose entities were written.
   */
  async update(
    read: ReadonlyMap<EntryKey, Entity | undefined>,
    { settleMs }: { readonly settleMs: number },
  ): Promise<readonly EntryKey[]> {
    const startedAt = performance.now();
    // First, because a renamed user may keep the reference.
    for (const [key, entity] of read) {
      const ref = this.#refs.get(key);
      if (ref !== undefined && ref !== (entity && stringifyEntityRef(entity))) {
        this.#refs.delete(key);
        this.#missing.add(ref);
        this.#missingSince = performance.now();
      }
    }
    const written = [...read].flatMap(([key, entity]) =>
      entity && this.#claim(key, entity) ? [entity] : [],
    );
    const isSettled = startedAt - this.#missingSince > settleMs;
    const removed = [...this.#missing].filter(ref =>
      read.has(this.#entities.get(ref)!.key),
    );
    await this.#mutate(written, isSettled ? removed : []);
    return written.map(keyOf);
  }

  /**
   * Assigns the reference of an entity, unless another user or group has it.
   * Returns whether the entity must be written.
   */
  #claim(key: EntryKey, entity: Entity): boolean {
    const ref = stringifyEntityRef(entity);
    const known = this.#entities.get(ref);
    if (known && known.key !== key && this.#refs.get(known.key) === ref) {
      if (!this.#colliding.has(key)) {
        this.#colliding.add(key);
        this.#options.logger.warn(
          `${key} is not in the catalog: ${known.key} has the same entity name`,
        );
      }
      return false;
    }
    const { digest, names } = known ?? { digest: '', names: namesOf(entity) };
    this.#entities.set(ref, { key, digest, names });
    this.#refs.set(key, ref);
    this.#missing.delete(ref);
    this.#colliding.delete(key);
    return digest !== digestOf(entity);
  }

  async #mutate(
    written: readonly Entity[],
    missing: readonly string[],
  ): Promise<void> {
    const removed = missing.length > 0 && this.#mayRemove() ? missing : [];
    if (written.length === 0 && removed.length === 0) {
      return;
    }
    const locationKey = DIRECTORY_ENTITY_LOCATION;
    await this.#options.connection().applyMutation({
      type: 'delta',
      added: written.map(entity => ({ entity, locationKey })),
      removed: removed.map(entityRef => ({ entityRef, locationKey })),
    });
    this.#mutations.add(written.length, { change: 'written' });
    this.#mutations.add(removed.length, { change: 'removed' });
    let areUsersOutdated = removed.some(ref => ref.startsWith('user:'));
    for (const entity of written) {
      const known = this.#entities.get(stringifyEntityRef(entity))!;
      known.digest = digestOf(entity);
      areUsersOutdated ||= known.names !== namesOf(entity);
      known.names = namesOf(entity);
    }
    for (const ref of removed) {
      this.#entities.delete(ref);
      this.#missing.delete(ref);
    }
    if (areUsersOutdated) {
      const { events, logger } = this.#options;
      events
        .publish({ topic: TOPIC, eventPayload: {} })
        .catch(error =>
          logger.warn(`Changed users could not be published: ${error}`),
        );
    }
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

/** Returns the name and the e-mail address of a user; empty for a group. */
function namesOf({ kind, spec }: Entity): string {
  const { displayName, email } = (spec?.profile ?? {}) as JsonObject;
  return kind === 'User' ? JSON.stringify([displayName, email]) : '';
}
