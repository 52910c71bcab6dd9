import type { Filter } from 'ldapts';
import type { DirectorySchema } from '../directory/schema';
import type {
  ReplicaEars,
  ReplicaKeys,
  ReplicaPortion,
  ReplicaSource,
  TakePortion,
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

/** Which entries are read, and what of them. Default: all, and everything. */
interface Reading {
  readonly filter?: Filter;
  readonly attributes?: readonly string[];
  readonly take?: TakePortion;
}

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

  readAll(take: TakePortion): Promise<ReplicaKeys> {
    return this.#read({ take });
  }

  readChanges(fromUsn: number, take: TakePortion): Promise<ReplicaKeys> {
    // Whatever their class, so that who has lost it is found.
    const filter = atLeast('entryusn', String(fromUsn));
    return this.#read({ filter, take });
  }

  readKeys(): Promise<ReplicaKeys> {
    return this.#read({ attributes: ['1.1'] });
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

  async #read(reading: Reading): Promise<ReplicaKeys> {
    const { users, groups, agreements } = this.#kinds;
    const read = {
      users: await this.#readKind(users, reading),
      groups: await this.#readKind(groups, reading),
      agreements: agreements && (await this.#readKind(agreements, reading)),
    };
    return {
      server: sameServer(Object.values(read)),
      users: read.users.keys,
      groups: read.groups.keys,
      agreements: read.agreements?.keys ?? new Set(),
    };
  }

  async #readKind<P extends ReplicaPortion>(
    kind: Copied<P>,
    { filter = kind.filter, attributes = kind.attributes, take }: Reading,
  ) {
    const { container: base, pageSize } = kind;
    const keys = new Set<string>();
    const { server } = await this.#reader.search(
      {
        ...{ base, scope: 'one', filter, attributes, pageSize },
        onPage: (page, { isFirst }) => {
          if (isFirst) {
            keys.clear();
          }
          const named = page.map(
            entry => [normalizeDn(entry.dn), entry] as const,
          );
          for (const [key] of named) {
            keys.add(key);
          }
          take?.(kind.decode(named));
        },
      },
      nobody(),
    );
    return { server, keys };
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
