import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Entry, Filter } from 'ldapts';
import { isDeepStrictEqual } from 'node:util';
import { firstUnread, type ChangeNumbers } from '../replica/ChangeNumbers';
import { normalizeDn, type DistinguishedName } from './DistinguishedName';
import { integerOf } from './entryValues';
import { all, atLeast } from './filters';
import type { Asking, LdapReader } from './LdapReader';
import type { UsnClock, UsnTime } from './UsnClock';

/** More in one search would stall the event loop noticeably. */
const ENTRIES_AT_A_TIME = 500;

/** At least this long between two comparisons of all keys. */
const MIN_COMPARISON_MS = 10_000;

/** Comparing takes at most this share of the server's time. */
const COMPARISON_SHARE = 1 / 20;

/** How long a directory without change numbers is believed to be unchanged. */
const WITHOUT_NUMBERS_MS = 1000;

/** What was read of the entries; times are of `performance.now()`. */
interface Generation<T> {
  /** Where the directory was, at least. */
  readonly time: UsnTime;
  /** When what is newest in it was asked for. */
  readonly askedAt: number;
  /** The last reading of all keys, which alone finds deletes and renames. */
  readonly compared: {
    readonly usn: number | undefined;
    readonly at: number;
    readonly tookMs: number;
  };
  /** What had been listed as written lately before all of it was read. */
  readonly read: ChangeNumbers;
  readonly byDn: ReadonlyMap<string, T>;
}

/** Which entries are mirrored, and what of them. */
export interface MirrorOptions<T> {
  readonly container: DistinguishedName;
  readonly filter: Filter;
  readonly attributes: readonly string[];
  /** `undefined` leaves an entry out. */
  readonly decode: (entry: Entry) => T | undefined;
}

/** What every mirror of one directory uses. */
export interface MirrorServices {
  readonly reader: LdapReader;
  readonly clock: UsnClock;
  readonly logger: LoggerService;
  /** At least this long between two comparisons of all keys. Default 10 s. */
  readonly comparisonIntervalMs?: number;
}

/**
 * A small copy of some entries of one container, by their names, so that lists
 * need not read every key again for each page. It follows the directory by
 * update sequence numbers: unchanged ones cost nothing, changed entries are
 * read by `entryusn`. Entries that are gone (deleted, renamed, no longer of
 * the class) are not among these: when something was written, all keys are
 * read again, in the background if the last time was not long ago; on another
 * server, whose numbers mean something else, at once.
 */
export class MirroredEntries<T> {
  readonly #services: MirrorServices;
  readonly #options: MirrorOptions<T>;
  #generation: Generation<T> | undefined;
  #refreshing: Promise<Generation<T>> | undefined;
  #comparing: Promise<Generation<T>> | undefined;

  constructor(services: MirrorServices, options: MirrorOptions<T>) {
    this.#services = services;
    this.#options = options;
  }

  /**
   * The entries by {@link normalizeDn normalized} name. The same map is given
   * again until something in it has changed.
   */
  async current(asking: Asking): Promise<ReadonlyMap<string, T>> {
    const time = await this.#services.clock.now(asking);
    const generation = await this.#at(time);
    const pause = this.#pauseAfter(generation);
    const age = performance.now() - generation.compared.at;
    if (generation.time.usn === generation.compared.usn || age < pause) {
      return generation.byDn;
    }
    const comparing = this.#compareOnce();
    // Whoever comes after a long silence waits, so that what is gone stays in
    // the lists for two intervals at most.
    return age < 2 * pause ? generation.byDn : (await comparing).byDn;
  }

  /** Drops what was read; the next one who asks has it read again. */
  forget(): void {
    this.#generation = undefined;
  }

  #pauseAfter({ compared }: Generation<T>): number {
    return Math.max(
      this.#services.comparisonIntervalMs ?? MIN_COMPARISON_MS,
      compared.tookMs / COMPARISON_SHARE,
    );
  }

  /** What was read at this time or later. */
  async #at(time: UsnTime): Promise<Generation<T>> {
    if (this.#generation && covers(this.#generation, time)) {
      return this.#generation;
    }
    while (this.#refreshing) {
      const generation = await this.#refreshing;
      if (covers(generation, time)) {
        return generation;
      }
    }
    this.#refreshing = this.#refresh(time).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(time: UsnTime): Promise<Generation<T>> {
    const old = this.#generation;
    const next =
      (old && (await this.#follow(old, time))) ?? (await this.#readAll(time));
    if (this.#generation !== old) {
      // A comparison ended meanwhile and knows more: follow from there.
      return this.#refresh(time);
    }
    this.#generation = next;
    return next;
  }

  /** `undefined` when numbers do not tell what has changed. */
  async #follow(
    old: Generation<T>,
    time: UsnTime,
  ): Promise<Generation<T> | undefined> {
    const { epoch, committedUsn } = old.time;
    if (epoch !== time.epoch || committedUsn === undefined) {
      return undefined;
    }
    const askedAt = performance.now();
    const fromUsn = committedUsn + 1;
    const listed = await this.#list(fromUsn);
    const first = firstUnread({ ...listed, fromUsn }, old.read);
    const { entries, server } =
      first === undefined
        ? { entries: [], server: listed.server }
        : await this.#search(atLeast('entryusn', String(first)));
    if (listed.server !== time.server || server !== time.server) {
      return undefined;
    }
    const byDn = withChanges(old.byDn, this.#decode(entries));
    return { ...old, time, askedAt, read: listed.numbers, byDn };
  }

  async #readAll(time: UsnTime): Promise<Generation<T>> {
    const askedAt = performance.now();
    const { entries, server } = await this.#search();
    const byDn = withChanges(new Map(), this.#decode(entries));
    return {
      // What a further server counts is not known: it will be read again.
      time: server === time.server ? time : { ...time, server, epoch: -1 },
      askedAt,
      compared: {
        usn: time.usn,
        at: askedAt,
        tookMs: performance.now() - askedAt,
      },
      read: new Map(),
      byDn: unlessSame(this.#generation?.byDn, byDn),
    };
  }

  #compareOnce(): Promise<Generation<T>> {
    if (!this.#comparing) {
      this.#comparing = this.#compare().finally(() => {
        this.#comparing = undefined;
      });
      this.#comparing.catch(error =>
        this.#services.logger.warn(
          'The directory cannot be compared with its copy',
          { error: String(error) },
        ),
      );
    }
    return this.#comparing;
  }

  async #compare(): Promise<Generation<T>> {
    // Writes after this moment are followed from here once more.
    const time = await this.#services.clock.now(nobody());
    const generation = await this.#readAll(time);
    this.#generation = generation;
    return generation;
  }

  async #list(fromUsn: number) {
    const { entries, server } = await this.#search(
      atLeast('entryusn', String(fromUsn)),
      ['entryusn'],
    );
    const numbers = entries.map(
      entry => [normalizeDn(entry.dn), integerOf(entry, 'entryusn')] as const,
    );
    return { server, numbers: new Map(numbers) };
  }

  #search(changed?: Filter, attributes = this.#options.attributes) {
    const { container, filter } = this.#options;
    return this.#services.reader.search(
      {
        base: container,
        scope: 'one',
        filter: changed ? all(filter, changed) : filter,
        attributes,
        pageSize: ENTRIES_AT_A_TIME,
      },
      nobody(),
    );
  }

  #decode(entries: readonly Entry[]): (readonly [string, T | undefined])[] {
    return entries.map(entry => [
      normalizeDn(entry.dn),
      this.#options.decode(entry),
    ]);
  }
}

/** Several callers wait for one reading: nobody's leaving ends it. */
function nobody(): Asking {
  return { signal: new AbortController().signal };
}

/** Whether nothing was written between a reading and a time. */
function covers<T>({ time, askedAt }: Generation<T>, at: UsnTime): boolean {
  if (askedAt >= at.askedAt) {
    return true;
  }
  if (time.epoch !== at.epoch) {
    return false;
  }
  // A write that is counted may still be on its way.
  return at.usn === undefined
    ? at.askedAt - askedAt < WITHOUT_NUMBERS_MS
    : time.committedUsn === at.usn;
}

/** Most writes change nothing here; what was made of the old map still holds. */
function withChanges<T>(
  old: ReadonlyMap<string, T>,
  entries: readonly (readonly [string, T | undefined])[],
): ReadonlyMap<string, T> {
  const changes = entries.filter(
    ([dn, value]) => !isDeepStrictEqual(old.get(dn), value),
  );
  if (changes.length === 0) {
    return old;
  }
  const byDn = new Map(old);
  for (const [dn, value] of changes) {
    if (value === undefined) {
      byDn.delete(dn);
    } else {
      byDn.set(dn, value);
    }
  }
  return byDn;
}

function unlessSame<T>(
  old: ReadonlyMap<string, T> | undefined,
  fresh: ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  const same =
    old?.size === fresh.size &&
    [...fresh].every(([dn, value]) => isDeepStrictEqual(old.get(dn), value));
  return same ? old : fresh;
}
