import { compareNames } from '../directory/names';

/** What is mirrored of a served entry. */
export interface ServedName {
  /** In the directory's spelling. */
  readonly name: string;
  /** Whether the account is locked; never, of a group. */
  readonly locked: boolean;
}

/** The served entries of one kind at one moment, in the order of the lists. */
export class ServedNames {
  readonly #byDn: ReadonlyMap<string, ServedName>;
  readonly #ranks: ReadonlyMap<ServedName, number>;
  /** All names, in order. */
  readonly inOrder: readonly string[];
  /** The names of the accounts that are not locked, in order. */
  readonly unlockedInOrder: readonly string[];

  private constructor(byDn: ReadonlyMap<string, ServedName>) {
    this.#byDn = byDn;
    const sorted = [...byDn.values()].sort((a, b) =>
      compareNames(a.name, b.name),
    );
    this.#ranks = new Map(sorted.map((served, rank) => [served, rank]));
    this.inOrder = sorted.map(({ name }) => name);
    this.unlockedInOrder = sorted
      .filter(({ locked }) => !locked)
      .map(({ name }) => name);
  }

  static readonly #made = new WeakMap<
    ReadonlyMap<string, ServedName>,
    ServedNames
  >();

  /** Sorts a mirror's entries, once for each state of the mirror. */
  static of(byDn: ReadonlyMap<string, ServedName>): ServedNames {
    let names = ServedNames.#made.get(byDn);
    if (!names) {
      names = new ServedNames(byDn);
      ServedNames.#made.set(byDn, names);
    }
    return names;
  }

  /** The served entry of a normalized name. */
  get(dn: string): ServedName | undefined {
    return this.#byDn.get(dn);
  }

  /** How many of those entries, each named once, are served and not locked. */
  countUnlocked(dns: ReadonlySet<string>): number {
    let count = 0;
    for (const dn of dns) {
      count += this.#byDn.get(dn)?.locked === false ? 1 : 0;
    }
    return count;
  }

  /** The names of those entries that are served and not locked, in order. */
  unlockedAmong(dns: Iterable<string>): readonly string[] {
    const found = new Set<ServedName>();
    for (const dn of dns) {
      const served = this.#byDn.get(dn);
      if (served && !served.locked) {
        found.add(served);
      }
    }
    return [...found]
      .sort((a, b) => this.#ranks.get(a)! - this.#ranks.get(b)!)
      .map(({ name }) => name);
  }
}
