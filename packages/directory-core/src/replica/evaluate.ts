import {
  type FieldCondition,
  type Predicate,
  visitPredicate,
} from '../directory/predicates';
import { isSameKey } from '../directory/publicKeys';
import { foldText } from './tables/foldText';
import { inAll, inAny, ranksBelow, ranksThat } from './tables/rankSets';
import type { ReadableRecords } from './tables/ServedRecords';

/** Tests whether a predicate applies to the record with a rank. */
type RankTest = (rank: number) => boolean;

/** Result of a predicate: a cheap test or the list of all matching ranks. */
type Matches =
  | { readonly test: RankTest; readonly ranks?: undefined }
  | { readonly test?: undefined; readonly ranks: Uint32Array };

/** Finds the ranks that match a single condition. */
export interface RankIndex<Condition> {
  /** Number of ranks. */
  readonly size: number;
  find(condition: Condition): Matches;
}

/** Returns the ranks that match a predicate, in order. */
export function ranksWhere<Condition extends { readonly kind: string }>(
  where: Predicate<Condition>,
  index: RankIndex<Condition>,
): Uint32Array {
  return ranksOf(evaluate(where, index), index.size);
}

/**
 * Returns the ranks that match any of the predicates: first the matches of the
 * first predicate in order, then the remaining matches of the second, and so
 * on.
 *
 * @param among - ranks to include
 */
export function ranksByTier<Condition extends { readonly kind: string }>(
  tiers: readonly Predicate<Condition>[],
  index: RankIndex<Condition>,
  among: Uint32Array,
): readonly number[] {
  const found = new Set<number>();
  for (const tier of tiers) {
    for (const rank of inAll([ranksWhere(tier, index), among])) {
      found.add(rank);
    }
  }
  return [...found];
}

/** Returns a function that tests single ranks. */
export function testWhere<Condition extends { readonly kind: string }>(
  where: Predicate<Condition>,
  index: RankIndex<Condition>,
): RankTest {
  return testOf(evaluate(where, index), index.size);
}

/** Finds records by conditions on their fields. */
export function fieldIndex<T extends object>(
  served: ReadableRecords<T>,
): RankIndex<FieldCondition<keyof T>> {
  return {
    size: served.size,
    find(condition) {
      const { kind, field } = condition;
      switch (kind) {
        case 'present':
          return { ranks: served.find(kind, field, indexes => indexes) };
        case 'wordPrefix':
        case 'wordPart':
        case 'similarWord':
          return {
            ranks: served.find('words', field, words =>
              words.matching(kind, condition.word),
            ),
          };
        case 'publicKey':
          return {
            ranks: served.find('keys', field, keys =>
              keys.where((text, start, end) =>
                isSameKey(condition.id, text.slice(start, end)),
              ),
            ),
          };
        default:
      }
      if (condition.text.includes('\0')) {
        // Nothing matches: 389 Directory Server would compare only the part
        // before the NUL.
        return { ranks: new Uint32Array() };
      }
      const text = foldText(condition.text);
      return {
        ranks: served.find('texts', field, texts =>
          kind === 'substring' ? texts.containing(text) : texts.equalTo(text),
        ),
      };
    },
  };
}

function evaluate<Condition extends { readonly kind: string }>(
  where: Predicate<Condition>,
  index: RankIndex<Condition>,
): Matches {
  return visitPredicate<Condition, Matches>(where, {
    condition: condition => index.find(condition),
    allOf: parts => {
      const { tests, lists } = split(parts);
      const test: RankTest = rank => tests.every(each => each(rank));
      if (lists.length === 0) {
        return { test };
      }
      const ranks = inAll(lists);
      return { ranks: tests.length > 0 ? ranksThat(ranks, test) : ranks };
    },
    anyOf: parts => {
      const { tests, lists } = split(parts);
      const test: RankTest = rank => tests.some(each => each(rank));
      if (lists.length === 0) {
        return { test };
      }
      const tested = tests.length > 0 ? [ranksOf({ test }, index.size)] : [];
      return { ranks: inAny([...lists, ...tested]) };
    },
    not: part => {
      const test = testOf(part, index.size);
      return { test: rank => !test(rank) };
    },
  });
}

function split(parts: readonly Matches[]) {
  return {
    tests: parts.flatMap(({ test }) => test ?? []),
    lists: parts.flatMap(({ ranks }) => (ranks ? [ranks] : [])),
  };
}

function ranksOf({ test, ranks }: Matches, size: number): Uint32Array {
  return test ? ranksThat(ranksBelow(size), test) : ranks;
}

function testOf({ test, ranks }: Matches, size: number): RankTest {
  if (test) {
    return test;
  }
  const isFound = new Uint8Array(size);
  for (const rank of ranks) {
    isFound[rank] = 1;
  }
  return rank => isFound[rank] === 1;
}
