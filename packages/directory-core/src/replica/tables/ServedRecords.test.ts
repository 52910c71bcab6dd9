import assert from 'node:assert';
import fc from 'fast-check';
import { isContained, isEqual } from '../../__testUtils__/naive/naiveSearch';
import { byName } from '../../__testUtils__/naive/NaiveDirectory';
import { ServedRecords } from './ServedRecords';

/** Number of rows: more than three blocks. */
const ROWS = 3500;

/** A record with all fields, as in the replica. */
interface Person {
  readonly name: string;
  readonly nicks: readonly string[] | undefined;
  readonly joined: Date | undefined;
  readonly locked: boolean | undefined;
}

const NICKS = ['Ada', 'ada lovelace', 'Zoé', 'x'];
const TIMES = [0, 1, 1000, 86_400_000].map(time => new Date(time));

/** Few names, so that some records differ only by case or key. */
const person = fc.record<Person>({
  name: fc
    .nat({ max: 2 * ROWS })
    .chain(number => fc.constantFrom(`User${number}`, `user${number}`)),
  nicks: fc.option(fc.subarray(NICKS, { minLength: 1 }), { nil: undefined }),
  joined: fc.option(fc.constantFrom(...TIMES), { nil: undefined }),
  locked: fc.option(fc.boolean(), { nil: undefined }),
});

/** A relative position among the rows, from 0 to 1. */
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** A change to the records from a position on. */
const change = fc.record({
  kind: fc.oneof(
    fc.constantFrom('add' as const, 'edit' as const, 'rename' as const),
    fc.constant<{ readonly delete: number }>({ delete: 1 }),
  ),
  place,
  person,
});
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

/** Records and a map with the same content. */
class Both {
  readonly records = new ServedRecords<Person>();
  readonly model = new Map<string, Person>();

  /**
   * Sets or deletes a record. Expects a new rank version if the order changes.
   */
  put(key: string, record: Person | undefined): void {
    const { rankVersion } = this.records;
    const isMoved = this.model.get(key)?.name !== record?.name;
    if (record) {
      this.model.set(key, record);
      this.records.set({ key, name: record.name, record });
    } else {
      this.model.delete(key);
      this.records.delete(key);
    }
    assert.equal(this.records.rankVersion !== rankVersion, isMoved, key);
  }

  apply(key: string, { kind, place: from, person: to }: Change): void {
    const at = Math.floor(from * this.records.size);
    const { inOrder } = this.records;
    if (kind === 'add') {
      this.put(key, to);
    } else if (kind === 'edit') {
      this.put(inOrder[at].key, { ...to, name: inOrder[at].name });
    } else if (kind === 'rename') {
      this.put(inOrder[at].key, to);
    } else {
      for (const row of inOrder.slice(at, at + kind.delete)) {
        this.put(row.key, undefined);
      }
    }
  }
}

/** Compares every list of ranks with the result of filtering a sorted array. */
function expectSame({ records, model }: Both): void {
  const sorted = [...model].toSorted(([keyA, a], [keyB, b]) =>
    a.name === b.name ? compare(keyA, keyB) : byName(a.name, b.name),
  );
  const ranksWhere = (passes: (record: Person, key: string) => boolean) =>
    Uint32Array.from(
      sorted.flatMap(([key, record], rank) =>
        passes(record, key) ? [rank] : [],
      ),
    );
  const hasNick = (passes: (nick: string) => boolean) =>
    ranksWhere(({ nicks }) => nicks?.some(passes) ?? false);

  expect(records.size).toBe(model.size);
  expect(new Set(records.keys())).toEqual(new Set(model.keys()));
  expect(records.inOrder.map(({ key, record }) => [key, record])).toEqual(
    sorted,
  );
  const keys = [...model.keys()].filter((_, index) => index % 3 === 0);
  for (const some of [keys, keys.slice(0, 20)]) {
    const wanted = new Set(some);
    expect(records.ranksOf(['uid=unknown', ...some.toReversed()])).toEqual(
      ranksWhere((_, key) => wanted.has(key)),
    );
  }
  expect(records.find('present', 'joined', indexes => indexes)).toEqual(
    ranksWhere(({ joined }) => joined !== undefined),
  );
  expect(records.flags('locked')).toEqual(
    Uint8Array.from(sorted, ([, { locked }]) => (locked ? 1 : 0)),
  );
  expect(
    records.find('texts', 'nicks', texts => texts.containing('ada')),
  ).toEqual(hasNick(nick => isContained(nick, 'ADA')));
  expect(records.find('texts', 'nicks', texts => texts.equalTo('ada'))).toEqual(
    hasNick(nick => isEqual(nick, 'ADA')),
  );
  const end = TIMES[2].getTime();
  expect(
    records.find('times', 'joined', times =>
      [...times.keys()].filter(index => times[index] < end),
    ),
  ).toEqual(
    ranksWhere(({ joined }) => joined !== undefined && joined < TIMES[2]),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}

describe('ServedRecords', () => {
  it.each([1, 2, 3])(
    `keeps ${ROWS} records in order and finds the same records as a sorted array (seed %s)`,
    seed => {
      const both = new Both();
      const people = fc.sample(person, { numRuns: ROWS, seed });
      people.forEach((record, index) => both.put(`uid=${index}`, record));
      expectSame(both);
      const changes = fc.sample(change, {
        numRuns: 100 * Number(process.env.RUNS || 1),
        seed,
      });
      for (const [step, each] of changes.entries()) {
        both.apply(`uid=added-${step}`, each);
        if (step % 50 === 49) {
          expectSame(both);
        }
      }
      // Consecutive records, so that whole blocks become empty.
      both.apply('', { ...changes[0], kind: { delete: 2500 }, place: 0.1 });
      expectSame(both);
      both.put('uid=unknown', undefined);
      both.apply('', { ...changes[0], kind: { delete: ROWS }, place: 0 });
      expect(both.model.size).toBe(0);
      expectSame(both);
    },
  );
});
