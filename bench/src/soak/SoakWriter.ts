import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectoryWriter } from '../age/DirectoryWriter';
import type { People } from '../People';
import type { SeededRandom } from '../SeededRandom';
import type { Write, Writing } from './Round';

/** Between two writes of a burst, in milliseconds. */
const PAUSE_MS = 150;
/** Writing, and then none of it, in milliseconds. */
const BURST_MS = 7000;
const QUIET_MS = 4000;
/** People go in the first part of each five minutes, in milliseconds. */
const REMOVING_EACH_MS = 5 * 60_000;
const REMOVING_MS = 15_000;
/** How soon it goes on when it is no longer held, in milliseconds. */
const HELD_MS = 20;
/** Of its own people and groups. */
const ALIVE = 60;
const GROUPS = 4;

/**
 * Changes a directory as long as it is told to: people of its own come, join,
 * are renamed and go, others are locked and hidden. Now and then it rests, so
 * that answers are compared with something that stands still, and for most of
 * the time nobody goes: lists of direct reads show that late.
 */
export class SoakWriter implements Writing {
  readonly #writer: DirectoryWriter;
  readonly #random: SeededRandom;
  readonly #others: readonly string[];
  readonly #groups: readonly string[];
  /** Its own people, with the groups they are in. */
  readonly #members = new Map<string, Set<string>>();
  #added = 0;
  #writes = 0;
  #lastWrite: Write = { beganAt: -Infinity, endedAt: -Infinity };
  #inFlight: Promise<unknown> = Promise.resolve();
  #holders = 0;
  #startedAt = performance.now();

  constructor(options: {
    readonly writer: DirectoryWriter;
    readonly people: People;
    readonly random: SeededRandom;
    /** Who is left as they are. */
    readonly except: readonly string[];
  }) {
    const { people, random, except } = options;
    this.#writer = options.writer;
    this.#random = random;
    this.#others = Array.from({ length: ALIVE }, () =>
      random.pick(people.usernames),
    ).filter(name => !except.includes(name));
    this.#groups = [
      ...Array.from({ length: GROUPS }, (_, number) => `soak-${number}`),
      ...people.groups
        .filter(({ found }) => found.length > 0)
        .slice(0, GROUPS)
        .map(({ name }) => name),
    ];
  }

  /** How many writes it has made. */
  get writes(): number {
    return this.#writes;
  }

  /**
   * The last write. It has ended when the directory's answer is here, which
   * comes after `memberOf` and references have been corrected (`RawEntries`).
   */
  get lastWrite(): Write {
    return this.#lastWrite;
  }

  /** Does something when no write is in flight, and writes nothing meanwhile. */
  async whileHeld<T>(work: () => Promise<T>): Promise<T> {
    this.#holders++;
    try {
      await this.#inFlight;
      return await work();
    } finally {
      this.#holders--;
    }
  }

  /** Who and what it writes to now. */
  get written() {
    return {
      usernames: [...this.#members.keys(), ...this.#others],
      groupnames: this.#groups,
    };
  }

  /** Writes until it is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    for (let number = 0; number < GROUPS; number++) {
      await this.#write(() => this.#writer.addGroup(`soak-${number}`));
    }
    // Who is in the first is in the second, too.
    await this.#write(() => this.#writer.nestGroup('soak-0', 'soak-1'));
    while (!signal.aborted) {
      const end = performance.now() + BURST_MS;
      while (performance.now() < end && !signal.aborted) {
        await this.#change();
        await pause(PAUSE_MS, signal);
      }
      await pause(QUIET_MS, signal);
    }
  }

  async #change(): Promise<void> {
    const random = this.#random;
    const own = [...this.#members.keys()];
    if (own.length < ALIVE / 2) {
      return this.#add();
    }
    const name = random.pick(own);
    const other = random.pick(this.#others);
    const flag = random.pick(['TRUE', 'FALSE']);
    const isRemoving =
      (performance.now() - this.#startedAt) % REMOVING_EACH_MS < REMOVING_MS;
    return random.pick([
      ...(isRemoving
        ? [() => this.#remove(name), () => this.#rename(name)]
        : []),
      ...(own.length < ALIVE ? [() => this.#add()] : []),
      () => this.#joinOrLeave(name),
      () => this.#joinOrLeave(name),
      () => this.#set(name, ['nsAccountLock', flag]),
      () => this.#set(name, ['fasIsPrivate', flag]),
      () => this.#set(name, ['displayName', `Name ${this.#writes}`]),
      () => this.#set(name, ['fasGitHubUsername', `gh-${this.#writes}`]),
      () => this.#set(other, ['nsAccountLock', flag]),
      () => this.#set(other, ['fasIsPrivate', flag]),
    ])();
  }

  async #add(): Promise<void> {
    const name = `soak.${this.#added++}`;
    await this.#write(() => this.#writer.addUser(name));
    this.#members.set(name, new Set());
  }

  async #remove(name: string): Promise<void> {
    for (const group of this.#members.get(name)!) {
      await this.#write(() => this.#writer.removeMember(group, name));
    }
    await this.#write(() => this.#writer.deleteUser(name));
    this.#members.delete(name);
  }

  /** Only who is in no group: the realm does not correct what names them. */
  async #rename(name: string): Promise<void> {
    if (this.#members.get(name)!.size === 0) {
      const to = `soak.${this.#added++}`;
      await this.#write(() => this.#writer.renameUser(name, to));
      this.#members.delete(name);
      this.#members.set(to, new Set());
    }
  }

  async #joinOrLeave(name: string): Promise<void> {
    const groups = this.#members.get(name)!;
    const group = this.#random.pick(this.#groups);
    if (groups.delete(group)) {
      await this.#write(() => this.#writer.removeMember(group, name));
    } else {
      await this.#write(() => this.#writer.addMember(group, name));
      groups.add(group);
    }
  }

  async #set(
    name: string,
    [attribute, value]: readonly [string, string],
  ): Promise<void> {
    await this.#write(() => this.#writer.setUser(name, attribute, value));
  }

  async #write(write: () => Promise<void>): Promise<void> {
    while (this.#holders > 0) {
      await sleep(HELD_MS);
    }
    const writing = this.#record(write);
    this.#inFlight = writing.catch(() => {});
    await writing;
  }

  async #record(write: () => Promise<void>): Promise<void> {
    const beganAt = performance.now();
    this.#lastWrite = { beganAt, endedAt: undefined };
    await write();
    this.#lastWrite = { beganAt, endedAt: performance.now() };
    this.#writes++;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
