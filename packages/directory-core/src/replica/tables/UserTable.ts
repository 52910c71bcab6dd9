import { isDeepStrictEqual } from 'node:util';
import type { User } from '../../directory/records';
import { searchParameters } from '../../directory/schema';
import type { UserAccount, UserEntry } from './entries';
import { ranksThat } from './rankSets';
import type { IndexSpec, ServedRecord } from './RowBlock';
import { type ReadableRecords, ServedRecords } from './ServedRecords';

const WORDS = Object.values(searchParameters('substring'));
const TEXTS = [...WORDS, ...Object.values(searchParameters('exact'))];

/** Fields that the API searches; other fields are indexed on first use. */
const INDEXED_FIELDS: IndexSpec<User> = {
  texts: TEXTS,
  present: TEXTS,
  words: WORDS,
  times: ['creation'],
  keys: ['sshpubkeys', 'gpgkeyids'],
};

const NO_ACCOUNT: UserAccount = {
  principalNames: [],
  locked: true,
  isFoundByUsername: false,
};

/** All served users. */
export class UserTable {
  readonly #served = new ServedRecords<User>();
  readonly #keys = new Map<string, string>();
  /** Irregular accounts, which differ from {@link regularAccount}, by key. */
  readonly #irregular = new Map<string, UserAccount>();
  /** Keys of the users with irregular accounts, by principal name. */
  readonly #aliases = new Map<string, readonly string[]>();
  /** Realm of the first user. */
  #realm: string | undefined;
  #locksVersion = 0;

  get served(): ReadableRecords<User> {
    return this.#served;
  }

  /**
   * Version that changes when a user is added, deleted, renamed, locked or
   * unlocked.
   */
  get version(): string {
    return `${this.#served.rankVersion}.${this.#locksVersion}`;
  }

  /** Returns the ranks of the users that are not locked. */
  unlockedAmong(ranks: Uint32Array): Uint32Array {
    const isLocked = this.#served.flags('locked');
    return ranksThat(ranks, rank => isLocked[rank] === 0);
  }

  ids(): Iterable<string> {
    return this.#keys.keys();
  }

  /** Returns the key of the user with a stable ID. */
  keyOf(id: string): string | undefined {
    return this.#keys.get(id);
  }

  /** Returns the stable ID of the user with a key. */
  idOf(key: string): string | undefined {
    const row = this.#served.get(key);
    return row && (row.uniqueId ?? key);
  }

  /** Returns the account of a served user. */
  accountOf({ key, record }: ServedRecord<User>): UserAccount {
    return this.#irregular.get(key) ?? regularAccount(record, this.#realm);
  }

  /** Returns the keys of users by a principal name of an irregular account. */
  keysByAlias(principalName: string): readonly string[] {
    return this.#aliases.get(principalName) ?? [];
  }

  set(key: string, entry: UserEntry): void {
    this.#setAccount(key, entry);
    if (this.#served.set(rowOf(key, entry)).includes('locked')) {
      this.#locksVersion++;
    }
    // The row's string, because the table keeps only one for each key.
    this.#keys.set(entry.uniqueId ?? key, this.#served.get(key)!.key);
  }

  /** Whether an entry differs from the one in the table. */
  differs(key: string, entry: UserEntry | undefined): boolean {
    return entry
      ? this.#served.differs(rowOf(key, entry)) ||
          !isDeepStrictEqual(
            this.#irregular.get(key),
            this.#irregularAccount(entry),
          )
      : this.#served.get(key) !== undefined;
  }

  delete(key: string): void {
    this.#keys.delete(this.idOf(key) ?? key);
    this.#served.delete(key);
    this.#deleteAccount(key);
  }

  /** Changes the key of a user. */
  rename(from: string, to: string): void {
    const row = this.#served.get(from);
    if (row) {
      const { record: user, searchOnly, uniqueId } = row;
      const account = this.accountOf(row);
      this.delete(from);
      this.set(to, { user, searchOnly, uniqueId, account });
    }
  }

  /**
   * Builds the search indexes of changed users, so that the next search does
   * not have to. Yields to the event loop in between.
   */
  async buildIndexes(): Promise<void> {
    await this.#served.buildIndexes(INDEXED_FIELDS);
  }

  #setAccount(key: string, entry: UserEntry): void {
    const [name = ''] = entry.account?.principalNames ?? [];
    if (name.startsWith(`${entry.user.username}@`)) {
      this.#realm ??= name.slice(entry.user.username.length + 1);
    }
    const account = this.#irregularAccount(entry);
    if (isDeepStrictEqual(this.#irregular.get(key), account)) {
      return;
    }
    this.#deleteAccount(key);
    if (account) {
      this.#irregular.set(key, account);
      for (const alias of account.principalNames) {
        this.#aliases.set(alias, [...this.keysByAlias(alias), key]);
      }
    }
  }

  #deleteAccount(key: string): void {
    const { principalNames } = this.#irregular.get(key) ?? NO_ACCOUNT;
    this.#irregular.delete(key);
    for (const name of principalNames) {
      const keys = this.keysByAlias(name).filter(other => other !== key);
      if (keys.length > 0) {
        this.#aliases.set(name, keys);
      } else {
        this.#aliases.delete(name);
      }
    }
  }

  #irregularAccount({
    user,
    account = NO_ACCOUNT,
  }: UserEntry): UserAccount | undefined {
    const { principalNames, expires, locked, isFoundByUsername } = account;
    const isRegular =
      isFoundByUsername &&
      expires === undefined &&
      locked === (user.locked === true) &&
      principalNames.length === 1 &&
      principalNames[0] === `${user.username}@${this.#realm}`;
    return isRegular ? undefined : account;
  }
}

/** Returns the default account, which is derived instead of stored. */
function regularAccount(user: User, realm: string | undefined): UserAccount {
  return {
    principalNames: [`${user.username}@${realm}`],
    locked: user.locked === true,
    isFoundByUsername: true,
  };
}

function rowOf(
  key: string,
  { user, searchOnly, uniqueId }: UserEntry,
): ServedRecord<User> {
  return { key, name: user.username, record: user, searchOnly, uniqueId };
}
