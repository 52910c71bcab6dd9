import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Entry, Filter } from 'ldapts';
import { normalizeDn, type DistinguishedName } from './DistinguishedName';
import { all, atLeast } from './filters';
import type { Asking, LdapReader } from './LdapReader';
import type { UsnClock, UsnTime } from './UsnClock';

/** More in one search would stall the event loop noticeably. */
const ENTRIES_AT_A_TIME = 500;

/** At least this long between two comparisons of all keys. */
const MIN_COMPARISON_MS = 10_000;

/** Comparing takes at most this share of the server's time. */
const COMPARISON_SHARE = 1 / 20;

interface Generation<T> {
  readonly time: UsnTime;
  readonly readAt: number;
  readonly comparedAt: number;
  readonly comparisonMs: number;
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

/**
 * A small copy of some entries of one container, by their names, so that lists
 * need not read every key again for each page. It follows the directory by
 * update sequence numbers: unchanged ones cost nothing, changed entries are
 * read by `entryusn`. Deletes and renames are not among these, so all keys are
 * read again in the background now and then; on another server, whose numbers
 * mean something else, at once.
 */
export class MirroredEntries<T> {
  readonly #reader: LdapReader;
  readonly #clock: UsnClock;
  readonly #logger: LoggerService;
  readonly #options: MirrorOptions<T>;
  #generation: Generation<T> | undefined;
  #refreshing: Promise<Generation<T>> | undefined;
  #comparing: Promise<void> | undefined;

  constructor(
    services: {
      readonly reader: LdapReader;
      readonly clock: UsnClock;
      readonly logger: LoggerService;
    },
    options: MirrorOptions<T>,
  ) {
    this.#reader = services.reader;
    this.#clock = services.clock;
    this.#logger = services.logger;
    this.#options = options;
  }

  /**
   * The entries by {@link normalizeDn normalized} name. The same map is given
   * again until something has changed.
   */
  async current(asking: Asking): Promise<ReadonlyMap<string, T>> {
    const time = await this.#clock.now(asking);
    const generation = this.#generation;
    if (generation && isAt(generation, time)) {
      return generation.byDn;
    }
    this.#refreshing ??= this.#refresh(time).finally(() => {
      this.#refreshing = undefined;
    });
    return (await this.#refreshing).byDn;
  }

  async #refresh(time: UsnTime): Promise<Generation<T>> {
    const old = this.#generation;
    const canFollow =
      old && old.time.server === time.server && old.time.usn !== undefined;
    const next = canFollow
      ? (await this.#follow(old, time)) ?? (await this.#readAll(time))
      : await this.#readAll(time);
    if (this.#generation !== old) {
      // A comparison ended meanwhile and knows more: follow from there.
      return this.#refresh(time);
    }
    this.#generation = next;
    if (canFollow) {
      this.#compareWhenDue(next);
    }
    return next;
  }

  /** `undefined` when another server answered, so that numbers differ. */
  async #follow(
    old: Generation<T>,
    time: UsnTime,
  ): Promise<Generation<T> | undefined> {
    const changedSince = atLeast('entryusn', String(old.time.usn! + 1));
    const { entries, server } = await this.#search(changedSince);
    if (server !== old.time.server) {
      return undefined;
    }
    const following = { ...old, time, readAt: performance.now() };
    if (entries.length === 0) {
      return following;
    }
    const byDn = new Map(old.byDn);
    this.#decodeInto(byDn, entries);
    return { ...following, byDn };
  }

  async #readAll(time: UsnTime): Promise<Generation<T>> {
    const startedAt = performance.now();
    const { entries, server } = await this.#search();
    const byDn = new Map<string, T>();
    this.#decodeInto(byDn, entries);
    const now = performance.now();
    return {
      // What a further server counts is not known: it will be read again.
      time: server === time.server ? time : { server, usn: undefined },
      readAt: startedAt,
      comparedAt: now,
      comparisonMs: now - startedAt,
      byDn,
    };
  }

  #compareWhenDue(generation: Generation<T>): void {
    const pause = Math.max(
      MIN_COMPARISON_MS,
      generation.comparisonMs / COMPARISON_SHARE,
    );
    if (performance.now() - generation.comparedAt < pause) {
      return;
    }
    this.#comparing ??= this.#compare()
      .catch(error =>
        this.#logger.warn('The directory cannot be compared with its copy', {
          error: String(error),
        }),
      )
      .finally(() => {
        this.#comparing = undefined;
      });
  }

  async #compare(): Promise<void> {
    // Writes after this moment are followed from here once more.
    const time = await this.#clock.now({
      signal: new AbortController().signal,
    });
    this.#generation = await this.#readAll(time);
  }

  #search(changed?: Filter) {
    const { container, filter, attributes } = this.#options;
    return this.#reader.search(
      {
        base: container,
        scope: 'one',
        filter: changed ? all(filter, changed) : filter,
        attributes,
        pageSize: ENTRIES_AT_A_TIME,
      },
      // Several callers wait for one reading: nobody's leaving ends it.
      { signal: new AbortController().signal },
    );
  }

  #decodeInto(byDn: Map<string, T>, entries: readonly Entry[]): void {
    for (const entry of entries) {
      const value = this.#options.decode(entry);
      if (value === undefined) {
        byDn.delete(normalizeDn(entry.dn));
      } else {
        byDn.set(normalizeDn(entry.dn), value);
      }
    }
  }
}

/** Without change numbers, what was read lately is believed for a moment. */
function isAt<T>(generation: Generation<T>, time: UsnTime): boolean {
  if (generation.time.server !== time.server) {
    return false;
  }
  return time.usn === undefined
    ? performance.now() - generation.readAt < 1000
    : generation.time.usn === time.usn;
}
