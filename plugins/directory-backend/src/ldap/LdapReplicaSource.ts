import type { Filter } from 'ldapts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectorySchema } from '../directory/schema';
import type {
  ChangeSubscriber,
  ReplicaKeys,
  ReplicaBatch,
  ReplicaSource,
  ReplicaPosition,
  OnBatch,
} from '../replica/sync/ReplicaSource';
import type { ReplicationState } from '../replica/sync/ReplicationState';
import { PersistentSearch } from './connection/PersistentSearch';
import type { Containers } from './connection/DistinguishedName';
import { entryKinds } from './entryKinds';
import { EntryReader, KEYS_PER_PAGE, type ReadOptions } from './EntryReader';
import {
  normalizeDn,
  rdnValueOf,
  trustedDn,
  type DistinguishedName,
} from './connection/DistinguishedName';
import { integerOf, textsOf, timeOf } from './entryValues';
import { atLeast, equals, isPresent } from './connection/filters';
import type { LdapEndpoint } from './connection/ldapClient';
import { isNoSuchObject } from './connection/ldapErrors';
import { NEVER_ABORTED, type LdapReader } from './LdapReader';
import type { UsnReader } from './UsnReader';

/** Interval of the checks that the notification connection still works. */
const HEARTBEAT_MS = 15_000;

/** Between two proofs of the account's rights while all is read. */
const PROOF_PAUSE_MS = 500;

/**
 * Milliseconds for which the account is known to be able to search for USNs.
 * Changes missed meanwhile are listed again later.
 */
const SEARCHABLE_MS = 2000;

/** Milliseconds until a search for USNs that found nothing is repeated. */
const UNSEARCHABLE_MS = 60_000;

/** Every directory has some of these. */
const NUMBERED = ['users', 'groups'] as const;

/** Reads all that a copy in memory is made of. */
export class LdapReplicaSource implements ReplicaSource {
  readonly #reader: LdapReader;
  readonly #clock: UsnReader;
  readonly #copied: EntryReader;
  readonly #base: DistinguishedName;
  /** The entry with the state of replication of 389 Directory Server. */
  readonly #replica: DistinguishedName;
  readonly #endpoint: (url: string) => Promise<LdapEndpoint>;
  readonly #kinds: ReturnType<typeof entryKinds>;
  /** Last successful search for USNs. */
  #searchableAt = -Infinity;
  /** Last search for USNs that found nothing. */
  #unsearchableAt = -Infinity;

  constructor(options: {
    readonly reader: LdapReader;
    readonly clock: UsnReader;
    readonly schema: DirectorySchema;
    readonly containers: Containers;
    /** What all of them are below. */
    readonly base: DistinguishedName;
    /** The account that reads. */
    readonly bindDn: string;
    /** How a server is connected to. */
    readonly endpoint: (url: string) => Promise<LdapEndpoint>;
  }) {
    this.#reader = options.reader;
    this.#clock = options.clock;
    this.#base = options.base;
    this.#replica = replicaOf(options.base);
    this.#copied = new EntryReader(options);
    this.#endpoint = options.endpoint;
    this.#kinds = entryKinds(options);
  }

  async readPosition(): Promise<ReplicaPosition> {
    const time = await this.#clock.now();
    const isSearchable = time.usn !== undefined && (await this.#canSearch());
    return isSearchable
      ? time
      : { ...time, usn: undefined, committedUsn: undefined };
  }

  async readAll(take: OnBatch): Promise<ReplicaKeys> {
    const ended = new AbortController();
    const reading = this.#read({
      take: portion => (ended.signal.aborted ? undefined : take(portion)),
    });
    try {
      const proving = this.#proveRights(ended.signal);
      const keys = await Promise.race([reading, proving.then(() => reading)]);
      ended.abort();
      await proving;
      return keys;
    } finally {
      ended.abort();
    }
  }

  readAllThrottled(take: OnBatch): Promise<ReplicaKeys> {
    return this.#read({ take, proven: true, gently: true });
  }

  async listChanges(fromUsn: number) {
    const listed = await this.#list(changedFrom(fromUsn));
    if (performance.now() - this.#searchableAt > SEARCHABLE_MS) {
      await this.#requireUsns(
        NUMBERED.filter(kind => listed[kind].usns.size === 0),
      );
    }
    const { users, groups, agreements } = listed;
    return {
      server: sameServer(Object.values(listed)),
      usns: new Map([
        ...users.usns,
        ...groups.usns,
        ...(agreements?.usns ?? []),
      ]),
    };
  }

  readChanges(fromUsn: number, take: OnBatch): Promise<ReplicaKeys> {
    return this.#read({ filter: changedFrom(fromUsn), take, proven: true });
  }

  async readEntry(
    { kind, key }: { kind: ReplicaBatch['kind']; key: string },
    take: OnBatch,
  ): Promise<{ readonly server: string; readonly found: boolean }> {
    // By the RDN: a search for the DN itself may fail with noSuchObject, which
    // does not name the server.
    const [attribute] = key.split('=', 1);
    const { server, keys } = await this.#readKind(kind, {
      filter: equals(attribute, rdnValueOf(key) ?? ''),
      take,
      proven: true,
    });
    return { server, found: keys.has(key) };
  }

  async listUsns(fromUsn: number) {
    const usns = new Set<number>();
    const { server } = await this.#reader.search(
      {
        base: this.#base,
        scope: 'sub',
        filter: changedFrom(fromUsn),
        attributes: ['entryusn'],
        pageSize: KEYS_PER_PAGE,
        onPage: (page, { isFirst }) => {
          if (isFirst) {
            usns.clear();
          }
          for (const entry of page) {
            usns.add(integerOf(entry, 'entryusn') ?? -1);
          }
        },
      },
      NEVER_ABORTED,
    );
    return { server, usns };
  }

  async readKeys(): Promise<ReplicaKeys> {
    const { users, groups, agreements } = await this.#list();
    return {
      server: sameServer([users, groups, agreements]),
      users: new Set(users.usns.keys()),
      groups: new Set(groups.usns.keys()),
      agreements: new Set(agreements?.usns.keys()),
    };
  }

  async createdAt({
    kind,
    key,
  }: {
    readonly kind: ReplicaBatch['kind'];
    readonly key: string;
  }): Promise<Date | undefined> {
    const [attribute] = key.split('=', 1);
    const [entry] = await this.#reader.read(
      {
        base: this.#kinds[kind]!.container,
        scope: 'one',
        filter: equals(attribute, rdnValueOf(key) ?? ''),
        attributes: ['createTimestamp'],
      },
      NEVER_ABORTED,
    );
    return entry && timeOf(entry, 'createTimestamp');
  }

  async replicationState() {
    try {
      const { entries, server } = await this.#reader.search(
        {
          base: this.#replica,
          scope: 'base',
          filter: isPresent('objectClass'),
          // Not among "all attributes".
          attributes: ['nsds50ruv'],
        },
        NEVER_ABORTED,
      );
      const state =
        entries[0] && parseReplicationState(textsOf(entries[0], 'nsds50ruv'));
      return state && { server, state };
    } catch (error) {
      if (isNoSuchObject(error)) {
        return undefined;
      }
      throw error;
    }
  }

  async subscribe(
    server: string,
    subscriber: ChangeSubscriber,
  ): Promise<() => void> {
    const listener = await PersistentSearch.open({
      endpoint: await this.#endpoint(server),
      base: this.#base,
      heartbeatMs: HEARTBEAT_MS,
      onChange: ({ kind, dn, previousDn }) => {
        const gone = kind === 'deleted' ? dn : previousDn;
        if (gone !== undefined) {
          subscriber.onDeleted(normalizeDn(gone));
        }
      },
      onLost: subscriber.onLost,
      onRefused: subscriber.onUnsupported,
    });
    return () => listener.close();
  }

  async #read(reading: ReadOptions): Promise<ReplicaKeys> {
    const { users, groups, agreements } = this.#kinds;
    const read = {
      users: await this.#copied.read(users, reading),
      groups: await this.#copied.read(groups, reading),
      agreements: agreements && (await this.#copied.read(agreements, reading)),
    };
    return {
      server: sameServer(Object.values(read)),
      users: read.users.keys,
      groups: read.groups.keys,
      agreements: read.agreements?.keys ?? new Set(),
    };
  }

  async #readKind(kind: ReplicaBatch['kind'], reading: ReadOptions) {
    const { users, groups, agreements } = this.#kinds;
    switch (kind) {
      case 'users':
        return this.#copied.read(users, reading);
      case 'groups':
        return this.#copied.read(groups, reading);
      default:
        // There is such a key only with freeipa-fas.
        return this.#copied.read(agreements!, reading);
    }
  }

  async #list(filter?: Filter) {
    const { users, groups, agreements } = this.#kinds;
    return {
      users: await this.#copied.list(users, filter),
      groups: await this.#copied.list(groups, filter),
      agreements: agreements && (await this.#copied.list(agreements, filter)),
    };
  }

  async #proveRights(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#reader.prove();
      await sleep(PROOF_PAUSE_MS, undefined, { signal: until }).catch(() => {});
    }
    await this.#reader.prove();
  }

  /** Whether the account may search for USNs, as known a minute ago at most. */
  async #canSearch(): Promise<boolean> {
    if (this.#searchableAt > this.#unsearchableAt) {
      return true;
    }
    if (performance.now() - this.#unsearchableAt < UNSEARCHABLE_MS) {
      return false;
    }
    return await this.#findUsns(NUMBERED);
  }

  /** @throws Error when the account may no longer search for USNs. */
  async #requireUsns(
    kinds: readonly (typeof NUMBERED)[number][],
  ): Promise<void> {
    if (!(await this.#findUsns(kinds))) {
      throw new Error('The account may not search for entryusn');
    }
  }

  async #findUsns(
    kinds: readonly (typeof NUMBERED)[number][],
  ): Promise<boolean> {
    for (const kind of kinds) {
      // Entries of any class: a new site has no fasUser yet.
      const entries = await this.#reader.read(
        {
          base: this.#kinds[kind].container,
          scope: 'one',
          filter: atLeast('entryusn', '0'),
          attributes: ['1.1'],
          sizeLimit: 1,
        },
        NEVER_ABORTED,
      );
      if (entries.length === 0) {
        this.#unsearchableAt = performance.now();
        return false;
      }
    }
    this.#searchableAt = performance.now();
    return true;
  }
}

/** Whatever their class, so that who has lost it is found. */
function changedFrom(usn: number): Filter {
  return atLeast('entryusn', String(usn));
}

function replicaOf(base: DistinguishedName): DistinguishedName {
  const suffix = base.replace(
    /[\\,=+;<>"#]/g,
    character => `\\${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return trustedDn(`cn=replica,cn=${suffix},cn=mapping tree,cn=config`);
}

/**
 * Parses a replica update vector: a line with the generation, and one for each
 * server, such as `{replica 4 ldap://a.test:389} <first> <latest>`.
 */
function parseReplicationState(
  lines: readonly string[],
): ReplicationState | undefined {
  let generation: string | undefined;
  const latest = new Map<string, string>();
  for (const line of lines) {
    const [, id, change = ''] =
      /^\{replica (\d+)[^}]*\}(?: [0-9a-f]+ ([0-9a-f]+))?/.exec(line) ?? [];
    generation ??= /^\{replicageneration\} (.+)$/.exec(line)?.[1];
    if (id !== undefined) {
      latest.set(id, change);
    }
  }
  return generation === undefined ? undefined : { generation, latest };
}

/** A server of one part and one of another would make a copy of neither. */
function sameServer(
  parts: readonly ({ readonly server: string } | undefined)[],
): string {
  const servers = new Set(parts.flatMap(part => part?.server ?? []));
  return servers.size === 1 ? [...servers][0] : '';
}
