import { isDeepStrictEqual } from 'node:util';
import type { User } from '../../directory/records';
import { ranksThat } from './rankSets';
import type { UserAccount, UserEntry } from '../sync/ReplicaSource';
import type { IndexSpec } from './RowBlock';
import { ServedRecords, type ServedRecord } from './ServedRecords';

/** What the contract searches by; of others it is gathered when needed. */
const INDEXED_FIELDS: IndexSpec<User> = {
  texts: [
    ...(['username', 'surname', 'givenname', 'human_name'] as const),
    ...(['emails', 'ircnicks', 'github_username'] as const),
    ...(['gitlab_username', 'rhbzemail', 'websites', 'rssurls'] as const),
  ],
  times: ['creation'],
};

const NO_ACCOUNT: UserAccount = {
  principalNames: [],
  locked: true,
  isFoundByUsername: false,
};

/** All served users. */
export class UserTable {
  readonly #served = new ServedRecords<User>();
  /** Accounts of other users than most, by key. */
  readonly #accounts = new Map<string, UserAccount>();
  /** Keys of those, by principal name. */
  readonly #aliases = new Map<string, readonly string[]>();
  /** Realm of the first user. */
  #realm: string | undefined;
  #locksVersion = 0;

  /** The users themselves, to be read. */
  get served(): Omit<ServedRecords<User>, 'set' | 'delete'> {
    return this.#served;
  }

  /** Moves when somebody comes, goes, is locked or unlocked. */
  get version(): string {
    return `${this.#served.rankVersion}.${this.#locksVersion}`;
  }

  /** Of these ranks, those whose account is not locked. */
  unlockedAmong(ranks: Uint32Array): Uint32Array {
    const isLocked = this.#served.flags('locked');
    return ranksThat(ranks, rank => isLocked[rank] === 0);
  }

  keys(): Iterable<string> {
    return this.#served.keys();
  }

  /** The account of a served user. */
  accountOf({ key, record }: ServedRecord<User>): UserAccount {
    return this.#accounts.get(key) ?? regularAccount(record, this.#realm);
  }

  /**
   * Keys of the users that may have a principal name other than their user name
   * in the realm.
   */
  keysByAlias(principalName: string): readonly string[] {
    return this.#aliases.get(principalName) ?? [];
  }

  set(key: string, entry: UserEntry): void {
    this.#setAccount(key, entry);
    if (this.#served.set(rowOf(key, entry)).includes('locked')) {
      this.#locksVersion++;
    }
  }

  /** Whether an entry is not what is kept of it. */
  differs(key: string, entry: UserEntry | undefined): boolean {
    return entry
      ? this.#served.changesBy(rowOf(key, entry)).length > 0 ||
          !isDeepStrictEqual(this.#accounts.get(key), this.#irregular(entry))
      : this.#served.get(key) !== undefined;
  }

  delete(key: string): void {
    this.#served.delete(key);
    this.#deleteAccount(key);
  }

  #setAccount(key: string, entry: UserEntry): void {
    const { user, account = NO_ACCOUNT } = entry;
    this.#realm ??= realmOf(user.username, account);
    const irregular = this.#irregular(entry);
    if (isDeepStrictEqual(this.#accounts.get(key), irregular)) {
      return;
    }
    this.#deleteAccount(key);
    if (irregular) {
      this.#accounts.set(key, irregular);
      for (const name of irregular.principalNames) {
        this.#aliases.set(name, [...this.keysByAlias(name), key]);
      }
    }
  }

  #deleteAccount(key: string): void {
    const { principalNames } = this.#accounts.get(key) ?? NO_ACCOUNT;
    this.#accounts.delete(key);
    for (const name of principalNames) {
      const keys = this.keysByAlias(name).filter(other => other !== key);
      if (keys.length > 0) {
        this.#aliases.set(name, keys);
      } else {
        this.#aliases.delete(name);
      }
    }
  }

  /** The account, unless it is the one that most users have. */
  #irregular({
    user,
    account = NO_ACCOUNT,
  }: UserEntry): UserAccount | undefined {
    const { principalNames, expires, locked, isFoundByUsername } = account;
    const isRegular =
      isFoundByUsername &&
      expires === undefined &&
      locked === hasLock(user) &&
      principalNames.length === 1 &&
      principalNames[0] === `${user.username}@${this.#realm}`;
    return isRegular ? undefined : account;
  }

  /**
   * Gathers what searches need, with others' turns between, so that the first
   * search after a change need not wait for it.
   */
  async buildIndexes(): Promise<void> {
    await this.#served.buildIndexes(INDEXED_FIELDS);
  }
}

/** The account that most users have, which takes no memory. */
function regularAccount(user: User, realm: string | undefined): UserAccount {
  return {
    principalNames: [`${user.username}@${realm}`],
    locked: hasLock(user),
    isFoundByUsername: true,
  };
}

function hasLock({ locked }: User): boolean {
  return locked === true;
}

function realmOf(
  username: string,
  { principalNames: [name = ''] }: UserAccount,
): string | undefined {
  return name.startsWith(`${username}@`)
    ? name.slice(username.length + 1)
    : undefined;
}

function rowOf(key: string, { user, searchOnly }: UserEntry): ServedRecord<User> {
  return { key, name: user.username, record: user, searchOnly };
}
