import type { Entry, Filter } from 'ldapts';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { GetEffectiveRightsControl } from './GetEffectiveRightsControl';
import type { LdapEndpoint } from './ldapClient';
import type { LdapReader } from './LdapReader';
import { missingRights } from './missingRights';
import type { UsnClock, UsnTime } from './UsnClock';

const HEARTBEAT_MS = 15_000;

/** Between two proofs of the account's rights while all is read. */
const PROOF_PAUSE_MS = 500;

/** After each page of a gentle reading: longer than the page takes. */
const GENTLE_PAUSE_MS = 100;

/** Every directory has some of these. */
const NUMBERED = ['users', 'groups'] as const;

/** Which entries are read, and what of them. Default: all, and everything. */
interface Reading {
  readonly filter?: Filter;
  readonly attributes?: readonly string[];
  readonly take?: TakePortion;
  /** With proof that what is vital could be read in each entry. */
  readonly proven?: boolean;
  /** With pauses. */
  readonly gently?: boolean;
}

/** Reads all that a copy in memory is made of. */
export class LdapReplicaSource implements ReplicaSource {
  readonly #reader: LdapReader;
  readonly #clock: UsnClock;
  readonly #base: DistinguishedName;
  readonly #bindDn: string;
  readonly #endpoint: (url: string) => Promise<LdapEndpoint>;
  readonly #kinds: ReturnType<typeof copiedKinds>;

  constructor(options: {
    readonly reader: LdapReader;
    readonly clock: UsnClock;
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
    this.#bindDn = options.bindDn;
    this.#endpoint = options.endpoint;
    this.#kinds = copiedKinds(options);
  }

  time(): Promise<UsnTime> {
    return this.#clock.now(nobody());
  }

  async readAll(take: TakePortion): Promise<ReplicaKeys> {
    await this.#proveNumbers(NUMBERED);
    const ended = new AbortController();
    const reading = this.#read({
      take: portion => {
        if (!ended.signal.aborted) {
          take(portion);
        }
      },
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

  readAllGently(take: TakePortion): Promise<ReplicaKeys> {
    return this.#read({ take, proven: true, gently: true });
  }

  async readChanges(fromUsn: number, take: TakePortion): Promise<ReplicaKeys> {
    // Whatever their class, so that who has lost it is found.
    const filter = atLeast('entryusn', String(fromUsn));
    const keys = await this.#read({ filter, take, proven: true });
    await this.#proveNumbers(NUMBERED.filter(kind => keys[kind].size === 0));
    return keys;
  }

  readKeys(): Promise<ReplicaKeys> {
    return this.#read({ attributes: ['1.1'] });
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
    reading: Reading,
  ): Promise<{ readonly server: string; readonly keys: ReadonlySet<string> }> {
    const { filter = kind.filter, attributes = kind.attributes } = reading;
    const { container: base, pageSize } = kind;
    const keys = new Set<string>();
    const missing = new Set<string>();
    const { server } = await this.#reader.search(
      {
        ...{ base, scope: 'one', filter, attributes, pageSize },
        ...(reading.proven && {
          control: new GetEffectiveRightsControl({ dn: this.#bindDn }),
        }),
        onPage: async (page, { isFirst }) => {
          if (isFirst) {
            keys.clear();
          }
          const named = page.map(
            entry => [normalizeDn(entry.dn), entry] as const,
          );
          for (const [key] of named) {
            keys.add(key);
          }
          if (!reading.take) {
            return;
          }
          const portion = kind.decode(named);
          if (reading.proven) {
            for (const attribute of missingFor(kind, { page, portion })) {
              missing.add(attribute);
            }
          }
          // An error here would be one of the connection.
          if (missing.size === 0) {
            reading.take(portion);
            await (reading.gently && sleep(GENTLE_PAUSE_MS));
          }
        },
      },
      nobody(),
    );
    if (missing.size > 0) {
      throw new Error(
        `The account may not read and search ${[...missing].join(', ')}`,
      );
    }
    return { server, keys };
  }

  async #proveRights(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#reader.prove();
      await sleep(PROOF_PAUSE_MS, undefined, { signal: until }).catch(() => {});
    }
    await this.#reader.prove();
  }

  async #proveNumbers(
    kinds: readonly (typeof NUMBERED)[number][],
  ): Promise<void> {
    for (const kind of kinds) {
      const { container: base, filter } = this.#kinds[kind];
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
}

/** What is vital and could not be read in some of the entries to be copied. */
function missingFor<P extends ReplicaPortion>(
  { vital }: Copied<P>,
  read: { readonly page: readonly Entry[]; readonly portion: P },
): readonly string[] {
  return read.portion.entries.flatMap(([, copied], index) =>
    copied ? missingRights(read.page[index], vital) : [],
  );
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
