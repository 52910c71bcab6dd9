import type { Filter } from 'ldapts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectorySchema } from '../directory/schema';
import type {
  ChangeSubscriber,
  EntryRef,
  OnBatch,
  ReplicaKeys,
  ReplicaKind,
  ReplicaPosition,
  ReplicaSource,
  ReplicationState,
} from '../replica/sync/ReplicaSource';
import {
  containersBelow,
  type DistinguishedName,
  normalizeDn,
  rdnValueOf,
  trustedDn,
} from './connection/DistinguishedName';
import { atLeast, equals, isPresent } from './connection/filters';
import { readEndpoint } from './connection/ldapClient';
import type { LdapConfig } from './connection/LdapConfig';
import { isNoSuchObject } from './connection/ldapErrors';
import { NEVER_ABORTED } from './connection/LdapPool';
import { PersistentSearch } from './connection/PersistentSearch';
import { type EntryKind, entryKinds } from './entryKinds';
import { EntryReader, KEYS_PER_PAGE, type ReadOptions } from './EntryReader';
import { integerOf, textsOf, timeOf } from './entryValues';
import type { LdapReader } from './LdapReader';
import { UsnReader } from './UsnReader';

/** Interval of checks that the notification connection works. */
const HEARTBEAT_MS = 15_000;

/** Pause in milliseconds between access checks during a full sync. */
const ACCESS_CHECK_PAUSE_MS = 500;

/**
 * Milliseconds for which a successful search for USNs proves that the account
 * has the right. Changes missed in the meantime are listed again later.
 */
const USN_ACCESS_VALID_MS = 2000;

/**
 * Milliseconds after which a search for USNs that found nothing is repeated.
 */
const USN_ACCESS_RETRY_MS = 60_000;

/** Kinds that exist in every directory. */
const KINDS_WITH_USN = ['users', 'groups'] as const;

/** Reads the replicated entries of a FreeIPA directory. */
export class LdapReplicaSource implements ReplicaSource {
  readonly #reader: LdapReader;
  readonly #usnReader: UsnReader;
  readonly #entryReader: EntryReader;
  readonly #base: DistinguishedName;
  readonly #ldap: LdapConfig;
  readonly #kinds: ReturnType<typeof entryKinds>;
  /** Time of the last search that found USNs. */
  #usnsFoundAt = -Infinity;
  /** Time of the last search that found no USNs. */
  #noUsnsFoundAt = -Infinity;

  constructor(options: {
    readonly reader: LdapReader;
    readonly schema: DirectorySchema;
    readonly ldap: LdapConfig;
  }) {
    const { reader, schema, ldap } = options;
    this.#reader = reader;
    this.#usnReader = new UsnReader({ reader });
    this.#entryReader = new EntryReader({ reader, bindDn: ldap.bindDn });
    this.#ldap = ldap;
    this.#base = trustedDn(ldap.baseDn);
    this.#kinds = entryKinds({
      schema,
      containers: containersBelow(ldap.baseDn),
    });
  }

  async readPosition(): Promise<ReplicaPosition> {
    const position = await this.#usnReader.read();
    return position.usn !== undefined && (await this.#canSearchUsns())
      ? position
      : { ...position, usn: undefined, committedUsn: undefined };
  }

  async readAll(onBatch: OnBatch): Promise<ReplicaKeys> {
    const ended = new AbortController();
    const reading = this.#read({
      onBatch: batch => (ended.signal.aborted ? undefined : onBatch(batch)),
    });
    try {
      const checking = this.#checkAccess(ended.signal);
      const keys = await Promise.race([reading, checking.then(() => reading)]);
      ended.abort();
      await checking;
      return keys;
    } finally {
      ended.abort();
    }
  }

  readAllThrottled(onBatch: OnBatch): Promise<ReplicaKeys> {
    return this.#read({ onBatch, verified: true, throttled: true });
  }

  async listChanges(fromUsn: number) {
    const changed = await this.#list(changedFrom(fromUsn));
    if (performance.now() - this.#usnsFoundAt > USN_ACCESS_VALID_MS) {
      const empty = KINDS_WITH_USN.filter(kind => changed[kind].size === 0);
      if (!(await this.#findUsns(empty))) {
        throw new Error('The service account may not search for entryusn');
      }
    }
    const { server, users, groups, agreements } = changed;
    return { server, usns: new Map([...users, ...groups, ...agreements]) };
  }

  readChanges(fromUsn: number, onBatch: OnBatch): Promise<ReplicaKeys> {
    return this.#read({
      filter: changedFrom(fromUsn),
      onBatch,
      verified: true,
    });
  }

  async readEntry(
    { kind, key }: EntryRef,
    onBatch: OnBatch,
  ): Promise<{ readonly server: string; readonly found: boolean }> {
    const { server, keys } = await this.#entryReader.read(this.#kinds[kind]!, {
      filter: rdnFilter(key),
      onBatch,
      verified: true,
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

  verifyAccess(): Promise<void> {
    return this.#reader.accessVerifier.verifyNow();
  }

  async readKeys(): Promise<ReplicaKeys> {
    const { server, users, groups, agreements } = await this.#list();
    return {
      server,
      users: new Set(users.keys()),
      groups: new Set(groups.keys()),
      agreements: new Set(agreements.keys()),
    };
  }

  async createdAt({ kind, key }: EntryRef): Promise<Date | undefined> {
    const [entry] = await this.#reader.read({
      base: this.#kinds[kind]!.container,
      scope: 'one',
      filter: rdnFilter(key),
      attributes: ['createTimestamp'],
    });
    return entry && timeOf(entry, 'createTimestamp');
  }

  async replicationState() {
    try {
      const { entries, server } = await this.#reader.search(
        {
          base: replicaEntryOf(this.#base),
          scope: 'base',
          filter: isPresent('objectClass'),
          // An operational attribute, which must be requested by name.
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
    const search = await PersistentSearch.open({
      endpoint: await readEndpoint(server, this.#ldap),
      base: this.#base,
      heartbeatMs: HEARTBEAT_MS,
      onDeleted: dn => subscriber.onDeleted(normalizeDn(dn)),
      onLost: subscriber.onLost,
      onRejected: subscriber.onUnsupported,
    });
    return () => search.close();
  }

  #read(options: ReadOptions): Promise<ReplicaKeys> {
    return this.#forEachKind(
      kind => this.#entryReader.read(kind, options),
      new Set<string>(),
    );
  }

  #list(filter?: Filter) {
    return this.#forEachKind(
      kind => this.#entryReader.list(kind, filter),
      new Map<string, number | undefined>(),
    );
  }

  /**
   * Calls a function for each kind. `server` is empty if the responses come
   * from different servers.
   */
  async #forEachKind<T>(
    read: (kind: EntryKind) => Promise<{ server: string; keys: T }>,
    none: T,
  ): Promise<{ readonly server: string } & Readonly<Record<ReplicaKind, T>>> {
    const users = await read(this.#kinds.users);
    const groups = await read(this.#kinds.groups);
    const agreements = this.#kinds.agreements
      ? await read(this.#kinds.agreements)
      : { server: groups.server, keys: none };
    const servers = new Set([users.server, groups.server, agreements.server]);
    return {
      server: servers.size === 1 ? users.server : '',
      users: users.keys,
      groups: groups.keys,
      agreements: agreements.keys,
    };
  }

  async #checkAccess(until: AbortSignal): Promise<void> {
    const { accessVerifier } = this.#reader;
    while (!until.aborted) {
      await accessVerifier.verifyNow();
      await sleep(ACCESS_CHECK_PAUSE_MS, undefined, { signal: until }).catch(
        () => {},
      );
    }
    await accessVerifier.verifyNow();
  }

  /**
   * Returns whether the account can search for USNs; `false` is cached for a
   * minute.
   */
  async #canSearchUsns(): Promise<boolean> {
    if (this.#usnsFoundAt > this.#noUsnsFoundAt) {
      return true;
    }
    if (performance.now() - this.#noUsnsFoundAt < USN_ACCESS_RETRY_MS) {
      return false;
    }
    return await this.#findUsns(KINDS_WITH_USN);
  }

  async #findUsns(
    kinds: readonly (typeof KINDS_WITH_USN)[number][],
  ): Promise<boolean> {
    for (const kind of kinds) {
      const entries = await this.#reader.read({
        base: this.#kinds[kind].container,
        scope: 'one',
        // Entries of any class: a new site has no fasUser yet.
        filter: changedFrom(0),
        attributes: ['1.1'],
        sizeLimit: 1,
      });
      if (entries.length === 0) {
        this.#noUsnsFoundAt = performance.now();
        return false;
      }
    }
    this.#usnsFoundAt = performance.now();
    return true;
  }
}

/** Matches entries of any class, to find entries that have lost their class. */
function changedFrom(usn: number): Filter {
  return atLeast('entryusn', String(usn));
}

/**
 * Matches an entry by its RDN. A search with its DN as base could fail with
 * noSuchObject, and such an error does not identify the server.
 */
function rdnFilter(key: string): Filter {
  const [attribute] = key.split('=', 1);
  return equals(attribute, rdnValueOf(key) ?? '');
}

/**
 * DN of the entry in which 389 Directory Server stores the replication state.
 */
function replicaEntryOf(base: DistinguishedName): DistinguishedName {
  const suffix = base.replace(
    /[\\,=+;<>"#]/g,
    character => `\\${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return trustedDn(`cn=replica,cn=${suffix},cn=mapping tree,cn=config`);
}

/**
 * Parses a replica update vector: a line with the generation and one for each
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
