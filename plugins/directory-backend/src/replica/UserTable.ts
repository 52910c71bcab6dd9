import type { User } from '../directory/User';
import { ranksThat } from './rankSets';
import type { Gathering } from './RowBlock';
import {
  ServedRecords,
  type ServedRecord,
  type UnshownTexts,
} from './ServedRecords';

/** What the contract searches by; of others it is gathered when needed. */
const SEARCHED: Gathering<User> = {
  texts: [
    ...(['username', 'surname', 'givenname', 'human_name'] as const),
    ...(['emails', 'ircnicks', 'github_username'] as const),
    ...(['gitlab_username', 'rhbzemail', 'websites', 'rssurls'] as const),
  ],
  times: ['creation'],
};

/** A user as the directory holds it. */
export interface CopiedUser {
  /** With all fields. */
  readonly user: User;
  readonly unshown?: UnshownTexts<User>;
}

/** All served users. */
export class UserTable {
  readonly #served = new ServedRecords<User>();
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

  set(key: string, entry: CopiedUser): void {
    if (this.#served.set(rowOf(key, entry)).includes('locked')) {
      this.#locksVersion++;
    }
  }

  /** Whether an entry is not what is kept of it. */
  differs(key: string, entry: CopiedUser | undefined): boolean {
    return entry
      ? this.#served.changesBy(rowOf(key, entry)).length > 0
      : this.#served.get(key) !== undefined;
  }

  delete(key: string): void {
    this.#served.delete(key);
  }

  /**
   * Gathers what searches need, with others' turns between, so that the first
   * search after a change need not wait for it.
   */
  async gather(): Promise<void> {
    await this.#served.gather(SEARCHED);
  }
}

function rowOf(key: string, { user, unshown }: CopiedUser): ServedRecord<User> {
  return { key, name: user.username, record: user, unshown };
}
