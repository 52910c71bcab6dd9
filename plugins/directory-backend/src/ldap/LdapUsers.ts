import type { Entry, Filter } from 'ldapts';
import type { OfAccounts, OfUser, UsersQuery } from '../directory/Directory';
import { compareNames, isUserName } from '../directory/names';
import { slicePage, type Page, type PageRequest } from '../directory/Page';
import type { DirectorySchema } from '../directory/schema';
import { emptyUser, type User } from '../directory/User';
import type { Containers } from './containers';
import { attributesOf, decodeRecord } from './decodeRecord';
import { childOf, type DistinguishedName } from './DistinguishedName';
import { textOf } from './entryValues';
import { all, any, equals, isA, not } from './filters';
import type { Asking, LdapReader } from './LdapReader';
import type { MirroredEntries } from './MirroredEntries';
import { namesAtATime } from './namesAtATime';
import { RecentRecords } from './RecentRecords';
import { ServedNames, type ServedName } from './ServedNames';
import type { UsnClock } from './UsnClock';
import {
  userSearchFilter,
  type UserSearchFilterOptions,
} from './userSearchFilter';

/** More in one search would stall the event loop noticeably. */
const ENTRIES_AT_A_TIME = 500;

/** Reads users. */
export class LdapUsers {
  readonly #reader: LdapReader;
  readonly #schema: DirectorySchema;
  readonly #containers: Containers;
  readonly #mirror: MirroredEntries<ServedName>;
  readonly #recent: RecentRecords<User>;

  constructor(options: {
    readonly reader: LdapReader;
    readonly schema: DirectorySchema;
    readonly containers: Containers;
    readonly mirror: MirroredEntries<ServedName>;
    readonly clock: UsnClock;
    /** As {@link RecentRecords} has it. */
    readonly keptRecords: number;
  }) {
    this.#reader = options.reader;
    this.#schema = options.schema;
    this.#containers = options.containers;
    this.#mirror = options.mirror;
    this.#recent = new RecentRecords(options);
  }

  /** The DN of the user of a name that has passed {@link isUserName}. */
  dnOf(username: string): DistinguishedName {
    return childOf(this.#containers.users, {
      attribute: this.#uid,
      value: username,
    });
  }

  /** Which users are served now. */
  async names(asking: Asking): Promise<ServedNames> {
    return ServedNames.of(await this.#mirror.current(asking));
  }

  /** Drops the records that are kept. */
  forget(): void {
    this.#recent.forget();
  }

  /** One user's record. */
  async get(
    query: UsersQuery & OfAccounts & OfUser,
    asking: Asking,
  ): Promise<User | undefined> {
    const entry = await this.readServed(
      query,
      attributesOf(this.#schema.users, ['username', ...query.fields]),
      asking,
    );
    return entry && this.#decode(entry, query);
  }

  /** One served user's entry, `undefined` when there is none. */
  async readServed(
    { username, unlockedOnly }: OfAccounts & OfUser,
    attributes: readonly string[],
    asking: Asking,
  ): Promise<Entry | undefined> {
    return isUserName(username)
      ? this.#reader.readOne(
          {
            base: this.dnOf(username),
            filter: unlockedOnly
              ? all(this.#isServed, this.#isUnlocked)
              : this.#isServed,
            attributes,
          },
          asking,
        )
      : undefined;
  }

  /** The records of one page of ordered names: no search when none is needed. */
  async page(
    names: readonly string[],
    query: UsersQuery & { readonly page: PageRequest },
    asking: Asking,
  ): Promise<Page<User>> {
    const shown = slicePage(names, query.page);
    return {
      items: await this.records(shown, query, asking),
      total: names.length,
    };
  }

  /** The records of ordered names. */
  async records(
    names: readonly string[],
    query: UsersQuery,
    asking: Asking,
  ): Promise<User[]> {
    const isNameEnough = [...query.fields].every(name => name === 'username');
    if (isNameEnough || names.length === 0) {
      return names.map(username => ({ username }));
    }
    const fields = [...query.fields].sort().join();
    const keyOf = (username: string) => `${username} ${fields}`;
    const quiet = await this.#recent.now(asking);
    const known = names.flatMap(name => quiet?.get(keyOf(name)) ?? []);
    const isKnown = new Set(known.map(({ username }) => username));
    const missing = names.filter(name => !isKnown.has(name));
    const found = await Promise.all(
      namesAtATime(missing).map(async some => {
        const { users, server } = await this.#readNamed(some, query, asking);
        const records = users.map(
          user => [keyOf(user.username), user] as const,
        );
        quiet?.keep(new Map(records), server);
        return users;
      }),
    );
    return [...known, ...found.flat()].sort((a, b) =>
      compareNames(a.username, b.username),
    );
  }

  /** The names of the users to whom all terms apply, in order. */
  async search(
    query: Omit<UserSearchFilterOptions, 'schema'> & OfAccounts,
    asking: Asking,
  ): Promise<readonly string[]> {
    const filter = userSearchFilter({ ...query, schema: this.#schema });
    if (!filter) {
      return [];
    }
    const entries = await this.#reader.read(
      {
        base: this.#containers.users,
        scope: 'one',
        filter: all(
          ...[this.#isServed, filter],
          ...(query.unlockedOnly ? [this.#isUnlocked] : []),
        ),
        attributes: [this.#uid],
        pageSize: ENTRIES_AT_A_TIME,
      },
      asking,
    );
    return entries
      .map(entry => textOf(entry, this.#uid))
      .filter((name): name is string => name !== undefined && isUserName(name))
      .sort(compareNames);
  }

  /** Whether an unlocked, served user is in a group: one base search. */
  async isMember(
    query: { readonly username: string; readonly group: DistinguishedName },
    asking: Asking,
  ): Promise<boolean> {
    if (!isUserName(query.username)) {
      return false;
    }
    const entry = await this.#reader.readOne(
      {
        base: this.dnOf(query.username),
        filter: all(
          ...[this.#isServed, this.#isUnlocked],
          equals('memberOf', query.group),
        ),
        attributes: [this.#uid],
      },
      asking,
    );
    return entry !== undefined;
  }

  async #readNamed(
    names: readonly string[],
    query: UsersQuery,
    asking: Asking,
  ): Promise<{ readonly users: readonly User[]; readonly server: string }> {
    const { entries, server } = await this.#reader.search(
      {
        base: this.#containers.users,
        scope: 'one',
        // The names first: with few candidates the server leaves the index of
        // object classes alone, which lists every entry there is.
        filter: all(
          any(names.map(name => equals(this.#uid, name))),
          this.#isServed,
        ),
        attributes: attributesOf(this.#schema.users, [
          'username',
          ...query.fields,
        ]),
      },
      asking,
    );
    return { users: entries.map(entry => this.#decode(entry, query)), server };
  }

  #decode(entry: Entry, { fields }: UsersQuery): User {
    return decodeRecord<User>(this.#schema.users, entry, {
      fields: ['username', ...fields],
      empty: emptyUser(),
    });
  }

  get #isServed(): Filter {
    return isA(this.#schema.userClass);
  }

  get #isUnlocked(): Filter {
    return not(equals(this.#schema.users.locked.attribute!, 'TRUE'));
  }

  get #uid(): string {
    return this.#schema.users.username.attribute!;
  }
}
