import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import fc from 'fast-check';
import type { ConfirmedSync } from '../replica/sync/DirectorySync';
import { Modifiers, type WriteSource } from './Modifiers';

const SERVER = 'ldaps://one';
const ENTRIES = ['cn=a', 'cn=b', 'uid=c', 'uid=d'];
const HIDDEN = 'cn=unreadable';
const USERS = ['uid=c', 'uid=d'];

interface Write {
  readonly usn: number;
  readonly key: string;
  /** `undefined` for a plugin. */
  readonly modifier: string | undefined;
  isVisible: boolean;
}

/** A directory that is written while it is read. */
class WrittenDirectory implements WriteSource {
  readonly writes: Write[] = [];
  readonly #random: () => number;
  /** Probability of a write before each response. */
  #rate = 0;
  #settledUsn = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Writes with a probability. One write at a time is in progress. */
  write(rate: number): void {
    while (this.#random() < rate) {
      this.writes.forEach(write => {
        write.isVisible = true;
      });
      this.writes.push({
        usn: this.writes.length + 1,
        key: this.#random() < 0.05 ? HIDDEN : this.#pick(ENTRIES),
        modifier: this.#random() < 0.2 ? undefined : this.#pick(USERS),
        isVisible: this.#random() < 0.6,
      });
    }
    const last = this.writes.at(-1);
    if (last) {
      last.isVisible ||= this.#random() < 0.5;
    }
    this.#rate = rate;
  }

  /** Returns the current position; its committed USN may lag behind. */
  position(): ConfirmedSync {
    const pending = this.writes.find(({ isVisible }) => !isVisible)?.usn;
    const usn = this.writes.length;
    this.#settledUsn = Math.max(
      this.#settledUsn,
      Math.min((pending ?? usn + 1) - 1, usn - Math.floor(this.#random() * 4)),
    );
    return {
      server: SERVER,
      epoch: 1,
      usn,
      committedUsn: this.#settledUsn,
      requestedAt: performance.now(),
      replicated: undefined,
    };
  }

  /** Number of writes that are visible in an entry. */
  visibleIn(key: string): number {
    return this.#visible(key).length;
  }

  lastOf(key: string): Write | undefined {
    return this.#visible(key).at(-1);
  }

  async lastWriteOf({ key }: { readonly key: string }) {
    this.write(this.#rate);
    const write = this.lastOf(key);
    return write?.modifier === undefined
      ? undefined
      : { server: SERVER, usn: write.usn, modifier: write.modifier };
  }

  async listUsns(fromUsn: number) {
    this.write(this.#rate);
    const last = ENTRIES.map(key => this.lastOf(key)?.usn ?? 0);
    return {
      server: SERVER,
      usns: new Set(last.filter(usn => usn >= fromUsn)),
    };
  }

  #visible(key: string): readonly Write[] {
    return this.writes.filter(write => write.key === key && write.isVisible);
  }

  #pick(names: readonly string[]): string {
    return names[Math.floor(this.#random() * names.length)];
  }
}

/** Uniform numbers in [0, 1), by a linear congruential generator. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

const kindOf = (key: string) =>
  key.startsWith('uid=') ? ('user' as const) : ('group' as const);

const create = (source: WriteSource) =>
  new Modifiers({ source, logger: new RecordingLogger() });

/** Compares all entries after syncs; returns how often modifiers were found. */
async function followHistory(random: () => number): Promise<{
  readonly found: number;
  readonly changed: number;
}> {
  const directory = new WrittenDirectory(random);
  const modifiers = create(directory);
  const compared = new Map<string, number>();
  let found = 0;
  let changed = 0;
  for (let round = 0; round < 30; round++) {
    directory.write(random() < 0.5 ? 0.3 : 0);
    const sync = directory.position();
    directory.write(random() < 0.8 ? 0 : 0.2);
    const state = new Map(
      ENTRIES.map(key => [key, directory.visibleIn(key)] as const),
    );
    const different = ENTRIES.filter(
      key => state.get(key) !== (compared.get(key) ?? 0),
    );
    const result = await modifiers.find(
      different.map(key => ({ kind: kindOf(key), key })),
      sync,
    );
    for (const [key, modifier] of result) {
      const since = directory.writes
        .filter(write => write.key === key && write.isVisible)
        .slice(compared.get(key) ?? 0);
      expect(since.map(write => write.modifier)).toEqual([modifier]);
    }
    found += result.size;
    changed += different.length;
    state.forEach((count, key) => compared.set(key, count));
    await modifiers.compared(sync);
  }
  return { found, changed };
}

describe('Modifiers', () => {
  it('finds only users who made the only write', async () => {
    let found = 0;
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer(), async seed => {
        const counts = await followHistory(randomNumbers(seed));
        found += counts.found;
        changed += counts.changed;
      }),
    );
    expect(found).toBeGreaterThan(changed / 20);
    expect(found).toBeLessThan(changed);
  });

  it('finds no modifier before the first comparison and on another server', async () => {
    const directory = new WrittenDirectory(() => 0.9);
    directory.writes.push({
      usn: 1,
      key: 'cn=a',
      modifier: 'uid=c',
      isVisible: true,
    });
    const modifiers = create(directory);
    const changed = [{ kind: 'group', key: 'cn=a' }] as const;
    const sync = { ...directory.position(), committedUsn: 0 };
    expect(await modifiers.find(changed, sync)).toEqual(new Map());
    await modifiers.compared({ ...sync, usn: 0 });
    expect(await modifiers.find(changed, sync)).toEqual(
      new Map([['cn=a', 'uid=c']]),
    );
    const other = { ...sync, server: 'ldaps://two' };
    expect(await modifiers.find(changed, other)).toEqual(new Map());
    expect(await modifiers.find(changed, { ...sync, epoch: 2 })).toEqual(
      new Map(),
    );
  });

  it('finds no modifier when the directory does not respond', async () => {
    const directory = new WrittenDirectory(() => 0.9);
    const logger = new RecordingLogger();
    const modifiers = new Modifiers({
      logger,
      source: {
        listUsns: async () => {
          throw new Error('unavailable');
        },
        lastWriteOf: async () => undefined,
      },
    });
    const sync = { ...directory.position(), committedUsn: 0 };
    await modifiers.compared(sync);
    expect(
      await modifiers.find([{ kind: 'group', key: 'cn=a' }], sync),
    ).toEqual(new Map());
    expect(logger.lines).toEqual([
      expect.stringContaining('Cannot determine who made the changes'),
    ]);
  });
});
