import { type Filter, OrFilter } from 'ldapts';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CurrentPosition,
  type DirectorySchema,
  type EntryRef,
  expectServer,
  type ListedChanges,
  type ListedIds,
  type OnBatch,
  type PositionOrder,
  type ReplicaIds,
  type ReplicaKind,
  replicaKinds,
  type ReplicaPosition,
  type ReplicaSource,
} from '@directory-gateway/directory-core';
import {
  containersBelow,
  type DistinguishedName,
  rdnValueOf,
  trustedDn,
} from './connection/DistinguishedName';
import { atLeast, equals } from './connection/filters';
import type { LdapConfig } from './connection/LdapConfig';
import {
  type EntryKind,
  entryKinds,
  MEMBER_OF,
  UNIQUE_ID,
  USN,
} from './entryKinds';
import { EntryReader, type ReadOptions } from './EntryReader';
import type { LdapReader } from './LdapReader';
import { UsnChanges, UsnReader, type UsnsById, type UsnState } from './usns';

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

/** Number of entries that are read with one search. */
const ENTRIES_PER_SEARCH = 50;

/**
 * Maximum number of recent entries that are read again. The daily check finds
 * changes of others.
 */
const MAX_RECENT_ENTRIES = 2000;

/** USNs by kind and stable ID, with the URL of the server that returned them. */
type ListedUsns = { readonly server: string } & Readonly<
  Record<ReplicaKind, UsnsById>
>;

/** Kinds that exist in every directory. */
const KINDS_WITH_USN = ['users', 'groups'] as const;

/**
 * Reads the replicated entries of FreeIPA, whose 389 Directory Server counts
 * writes (USN plugin).
 */
export class LdapReplicaSource implements ReplicaSource {
  readonly #reader: LdapReader;
  readonly #usnReader: UsnReader;
  readonly #entryReader: EntryReader;
  readonly #base: DistinguishedName;
  readonly #kinds: ReturnType<typeof entryKinds>;
  #changes: UsnChanges | undefined;
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
    this.#entryReader = new EntryReader(reader);
    this.#base = trustedDn(ldap.baseDn);
    this.#kinds = entryKinds({
      schema,
      containers: containersBelow(ldap.baseDn),
    });
  }

  async position(): Promise<CurrentPosition> {
    const state = await this.#usnReader.read();
    const { server, requestedAt } = state;
    const value =
      state.usn !== undefined && (await this.#canSearchUsns())
        ? `${state.usn} ${state.committedUsn}`
        : undefined;
    return { server, value, requestedAt };
  }

  compare(from: ReplicaPosition, to: ReplicaPosition): PositionOrder {
    const [before, after] = [usnsOf(from), usnsOf(to)];
    if (from.server !== to.server) {
      return 'other';
    }
    if (before.usn === undefined || after.usn === undefined) {
      // Without USNs, only a full sync shows what was written.
      return before.usn === after.usn ? 'later' : 'other';
    }
    if (after.usn < before.usn) {
      return 'earlier';
    }
    const isSettled = before.usn === before.committedUsn;
    return after.usn === before.usn && isSettled ? 'same' : 'later';
  }

  async changes(
    from: ReplicaPosition,
    to: CurrentPosition,
    onBatch: OnBatch,
  ): Promise<ListedChanges> {
    const start = stateOf(from);
    const changes =
      this.#changes && isSameState(this.#changes.readTo, start)
        ? this.#changes
        : new UsnChanges(start);
    this.#changes = changes;
    const listed = await this.#listFrom(changes.fromUsn, to.server);
    const read = new Map<string, number | undefined>();
    for (const kind of replicaKinds) {
      const first = changes.firstUnseen(listed[kind]);
      if (first !== undefined) {
        const { server, ids } = await this.#entryReader.read(
          this.#kinds[kind]!,
          {
            filter: changedFrom(first),
            onBatch,
            verified: true,
            further: kind === 'users' ? [USN, MEMBER_OF] : [USN],
          },
        );
        expectServer({ server }, to);
        ids.forEach((usn, id) => read.set(id, usn));
      }
    }
    const all = new Map(replicaKinds.flatMap(kind => [...listed[kind]]));
    const missing = this.#refsOf(changes.noLongerListed(all));
    const found = await this.readEntries(to.server, missing, onBatch);
    const complete = await changes.explain(stateOf(to), usn =>
      this.#listUsns(usn, to),
    );
    changes.recordRead(all, { read, to: stateOf(to) });
    return {
      gone: missing.filter(({ id }) =>
        replicaKinds.every(kind => !found[kind].has(id)),
      ),
      complete,
    };
  }

  async ids(): Promise<ListedIds> {
    const { last } = this.#usnReader;
    const changes = this.#changes;
    const listed = idsOf(await this.#list());
    if (last?.server === listed.server) {
      changes?.recordComparison(last);
    }
    return listed;
  }

  async readRecent(server: string, onBatch: OnBatch): Promise<void> {
    const { last } = this.#usnReader;
    if (last?.replicatedUsn === undefined) {
      return;
    }
    expectServer(last, { server });
    // An older write that is replicated after a newer one changes the entry,
    // but not its USN.
    const listed = await this.#list(changedFrom(last.replicatedUsn + 1));
    expectServer(listed, { server });
    const recent = replicaKinds
      .flatMap(kind =>
        [...listed[kind]].map(([id, usn = 0]) => ({ kind, id, usn })),
      )
      .sort((a, b) => b.usn - a.usn)
      .slice(0, MAX_RECENT_ENTRIES);
    await this.readEntries(server, recent, onBatch);
  }

  async readAll(onBatch: OnBatch): Promise<ListedIds> {
    const ended = new AbortController();
    const reading = this.#read({
      onBatch: batch => (ended.signal.aborted ? undefined : onBatch(batch)),
    });
    try {
      const checking = this.#checkAccess(ended.signal);
      const ids = await Promise.race([reading, checking.then(() => reading)]);
      ended.abort();
      await checking;
      return ids;
    } finally {
      ended.abort();
    }
  }

  readAllThrottled(onBatch: OnBatch): Promise<ListedIds> {
    return this.#read({ onBatch, verified: true, throttled: true });
  }

  async readEntries(
    server: string,
    entries: readonly EntryRef[],
    onBatch: OnBatch,
  ): Promise<ReplicaIds> {
    const found = {
      users: new Set<string>(),
      groups: new Set<string>(),
      agreements: new Set<string>(),
    };
    for (const kind of replicaKinds) {
      const wanted = entries.filter(each => each.kind === kind);
      for (let at = 0; at < wanted.length; at += ENTRIES_PER_SEARCH) {
        const filters = wanted
          .slice(at, at + ENTRIES_PER_SEARCH)
          .map(({ id }) => hasId(id));
        const read = await this.#entryReader.read(this.#kinds[kind]!, {
          filter: new OrFilter({ filters }),
          onBatch,
          verified: true,
        });
        expectServer(read, { server });
        for (const id of read.ids.keys()) {
          found[kind].add(id);
        }
      }
    }
    return found;
  }

  verifyAccess(): Promise<void> {
    return this.#reader.accessVerifier.verifyNow();
  }

  /** Lists recent writes. */
  async #listFrom(fromUsn: number, server: string): Promise<ListedUsns> {
    const listed = await this.#list(changedFrom(fromUsn));
    expectServer(listed, { server });
    // A search for USNs returns no entries when the account lacks the right.
    if (performance.now() - this.#usnsFoundAt > USN_ACCESS_VALID_MS) {
      const empty = KINDS_WITH_USN.filter(kind => listed[kind].size === 0);
      if (!(await this.#findUsns(empty))) {
        throw new Error('The service account may not search for entryusn');
      }
    }
    return listed;
  }

  async #listUsns(
    fromUsn: number,
    position: CurrentPosition,
  ): Promise<ReadonlySet<number>> {
    const listed = await this.#entryReader.list({
      base: this.#base,
      scope: 'sub',
      filter: changedFrom(fromUsn),
      attributes: [USN],
    });
    expectServer(listed, position);
    return new Set([...listed.ids.values()].map(usn => usn ?? -1));
  }

  /** Returns references of all kinds: a stable ID belongs to one of them. */
  #refsOf(ids: readonly string[]): readonly EntryRef[] {
    return ids.flatMap(id =>
      replicaKinds
        .filter(kind => this.#kinds[kind])
        .map(kind => ({ kind, id })),
    );
  }

  async #read(options: ReadOptions): Promise<ListedIds> {
    return idsOf(
      await this.#forEachKind(kind => this.#entryReader.read(kind, options)),
    );
  }

  /**
   * Lists stable IDs.
   *
   * @param filter - selects entries of any class, with their USNs. Default: all
   *   entries of the kind, without USNs, which is cheaper for the server
   */
  #list(filter?: Filter): Promise<ListedUsns> {
    return this.#forEachKind(kind =>
      this.#entryReader.list({
        base: kind.container,
        scope: 'one',
        filter: filter ?? kind.filter,
        attributes: filter ? [UNIQUE_ID, USN] : [UNIQUE_ID],
      }),
    );
  }

  /**
   * Calls a function for each kind. `server` is empty if the responses come
   * from different servers.
   */
  async #forEachKind(
    read: (kind: EntryKind) => Promise<{ server: string; ids: UsnsById }>,
  ): Promise<ListedUsns> {
    const users = await read(this.#kinds.users);
    const groups = await read(this.#kinds.groups);
    const agreements = this.#kinds.agreements
      ? await read(this.#kinds.agreements)
      : { server: groups.server, ids: new Map() };
    const servers = new Set([users.server, groups.server, agreements.server]);
    return {
      server: servers.size === 1 ? users.server : '',
      users: users.ids,
      groups: groups.ids,
      agreements: agreements.ids,
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

/** Returns the stable IDs in a list. */
function idsOf({ server, users, groups, agreements }: ListedUsns): ListedIds {
  return {
    server,
    users: new Set(users.keys()),
    groups: new Set(groups.keys()),
    agreements: new Set(agreements.keys()),
  };
}

/** Matches entries of any class, to find entries that have lost their class. */
function changedFrom(usn: number): Filter {
  return atLeast(USN, String(usn));
}

/**
 * Matches an entry by its stable ID, or by its RDN if the ID is a DN. A search
 * with the DN as base could fail with noSuchObject, and such an error does not
 * identify the server.
 */
function hasId(id: string): Filter {
  const [attribute] = id.split('=', 1);
  return attribute === id
    ? equals(UNIQUE_ID, id)
    : equals(attribute, rdnValueOf(id) ?? '');
}

/** Returns the USNs of a position's value. */
function usnsOf({ value }: ReplicaPosition): Omit<UsnState, 'server'> {
  const [usn, committedUsn] = value?.split(' ').map(Number) ?? [];
  return { usn, committedUsn };
}

function stateOf(position: ReplicaPosition): UsnState {
  return { server: position.server, ...usnsOf(position) };
}

function isSameState(a: UsnState, b: UsnState): boolean {
  return (
    a.server === b.server &&
    a.usn === b.usn &&
    a.committedUsn === b.committedUsn
  );
}
