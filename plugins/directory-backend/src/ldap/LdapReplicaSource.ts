import type { Filter } from 'ldapts';
import type { DirectorySchema } from '../directory/schema';
import type {
  ReplicaEars,
  ReplicaEntries,
  ReplicaKeys,
  ReplicaSource,
} from '../replica/ReplicaSource';
import { ChangeListener } from './ChangeListener';
import type { Containers } from './containers';
import { copiedKinds, type Copied } from './copiedKinds';
import { normalizeDn, type DistinguishedName } from './DistinguishedName';
import { all, atLeast } from './filters';
import type { LdapEndpoint } from './ldapClient';
import type { LdapReader } from './LdapReader';
import type { UsnClock, UsnTime } from './UsnClock';

const HEARTBEAT_MS = 15_000;

/** Reads all that a copy in memory is made of. */
export class LdapReplicaSource implements ReplicaSource {
  readonly #reader: LdapReader;
  readonly #clock: UsnClock;
  readonly #base: DistinguishedName;
  readonly #endpoint: (url: string) => Promise<LdapEndpoint>;
  readonly #kinds: ReturnType<typeof copiedKinds>;

  constructor(options: {
    readonly reader: LdapReader;
    readonly clock: UsnClock;
    readonly schema: DirectorySchema;
    readonly containers: Containers;
    /** What all of them are below. */
    readonly base: DistinguishedName;
    /** How a server is connected to. */
    readonly endpoint: (url: string) => Promise<LdapEndpoint>;
  }) {
    this.#reader = options.reader;
    this.#clock = options.clock;
    this.#base = options.base;
    this.#endpoint = options.endpoint;
    this.#kinds = copiedKinds(options);
  }

  time(): Promise<UsnTime> {
    return this.#clock.now(nobody());
  }

  readAll(): Promise<ReplicaEntries> {
    return this.#read(({ filter }) => filter);
  }

  readChanges(fromUsn: number): Promise<ReplicaEntries> {
    // Whatever their class, so that who has lost it is found.
    const changed = atLeast('entryusn', String(fromUsn));
    return this.#read(() => changed);
  }

  async proveNumbers(): Promise<void> {
    const { users, groups } = this.#kinds;
    for (const { container: base, filter } of [users, groups]) {
      const numbered = all(filter, atLeast('entryusn', '0'));
      const entries = await this.#reader.read(
        {
          ...{ base, scope: 'one', filter: numbered },
          ...{ attributes: ['1.1'], sizeLimit: 1 },
        },
        nobody(),
      );
      if (entries.length === 0) {
        throw new Error('The account may not search for entryusn');
      }
    }
  }

  async readKeys(): Promise<ReplicaKeys> {
    const { users, groups, agreements } = this.#kinds;
    const read = {
      users: await this.#readKeysOf(users),
      groups: await this.#readKeysOf(groups),
      agreements: agreements && (await this.#readKeysOf(agreements)),
    };
    return {
      server: sameServer(Object.values(read)),
      users: read.users.keys,
      groups: read.groups.keys,
      agreements: read.agreements?.keys ?? new Set(),
    };
  }

  async listen(server: string, ears: ReplicaEars): Promise<() => void> {
    const listener = await ChangeListener.open({
      endpoint: await this.#endpoint(server),
      base: this.#base,
      heartbeatMs: HEARTBEAT_MS,
      onChange: ({ kind, dn, previousDn }) => {
        const gone = kind === 'deleted' ? dn : previousDn;
        if (gone !== undefined) {
          ears.onGone(normalizeDn(gone));
        }
      },
      onLost: ears.onLost,
    });
    return () => listener.close();
  }

  async #read(
    filterOf: (kind: Copied<unknown>) => Filter,
  ): Promise<ReplicaEntries> {
    const { users, groups, agreements } = this.#kinds;
    const read = {
      users: await this.#readKind(users, filterOf(users)),
      groups: await this.#readKind(groups, filterOf(groups)),
      agreements:
        agreements && (await this.#readKind(agreements, filterOf(agreements))),
    };
    return {
      server: sameServer(Object.values(read)),
      users: read.users.entries,
      groups: read.groups.entries,
      agreements: read.agreements?.entries ?? new Map(),
    };
  }

  async #readKind<T>(kind: Copied<T>, filter: Filter) {
    const { container: base, attributes, pageSize, decode } = kind;
    const { entries, server } = await this.#reader.search(
      { base, scope: 'one', filter, attributes, pageSize },
      nobody(),
    );
    return {
      server,
      entries: new Map(
        entries.map(entry => [normalizeDn(entry.dn), decode(entry)]),
      ),
    };
  }

  async #readKeysOf(kind: Copied<unknown>) {
    const { entries, server } = await this.#readKind(
      { ...kind, attributes: ['1.1'], decode: () => true },
      kind.filter,
    );
    return { server, keys: new Set(entries.keys()) };
  }
}

/** A server of one part and one of another would make a copy of neither. */
function sameServer(
  parts: readonly ({ readonly server: string } | undefined)[],
): string {
  const servers = new Set(parts.flatMap(part => part?.server ?? []));
  return servers.size === 1 ? [...servers][0] : '';
}

/** Nobody's leaving ends it. */
function nobody() {
  return { signal: new AbortController().signal };
}
