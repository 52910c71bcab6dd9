import { visitPredicate, type Predicate } from '../directory/predicates';
import { inAll, inAny, ranksThat } from './rankSets';

/** Whether a condition applies to a rank. */
export type RankTest = (rank: number) => boolean;

/** Finds the ranks to which conditions apply. */
export interface RankIndex<Condition> {
  /** Number of ranks. */
  readonly size: number;
  /** The ranks to which a condition applies, in order. */
  ranks(condition: Condition): Uint32Array;
  /**
   * A test that is cheaper than the list of ranks; `undefined` when there is
   * none.
   */
  test(condition: Condition): RankTest | undefined;
}

/** A part of a predicate: a cheap test, or else the ranks to which it applies. */
type Part =
  | { readonly test: RankTest; readonly ranks?: undefined }
  | { readonly test?: undefined; readonly ranks: Uint32Array };

/** The ranks to which a predicate applies, in order. */
export function ranksWhere<Condition extends { readonly kind: string }>(
  predicate: Predicate<Condition>,
  index: RankIndex<Condition>,
): Uint32Array {
  return listed(evaluate(predicate, index), index.size);
}

/** A test for single ranks. */
export function testWhere<Condition extends { readonly kind: string }>(
  predicate: Predicate<Condition>,
  index: RankIndex<Condition>,
): RankTest {
  const { test, ranks } = evaluate(predicate, index);
  if (test) {
    return test;
  }
  const found = new Set(ranks);
  return rank => found.has(rank);
}

function evaluate<Condition extends { readonly kind: string }>(
  predicate: Predicate<Condition>,
  index: RankIndex<Condition>,
): Part {
  return visitPredicate<Condition, Part>(predicate, {
    condition: condition => {
      const test = index.test(condition);
      return test ? { test } : { ranks: index.ranks(condition) };
    },
    allOf: parts => {
      const tests = testsOf(parts);
      const isTrue: RankTest = rank => tests.every(test => test(rank));
      const lists = listsOf(parts);
      if (lists.length === 0) {
        return { test: isTrue };
      }
      const ranks = inAll(lists);
      return { ranks: tests.length > 0 ? ranksThat(ranks, isTrue) : ranks };
    },
    anyOf: parts => {
      const tests = testsOf(parts);
      const isTrue: RankTest = rank => tests.some(test => test(rank));
      const lists = listsOf(parts);
      if (lists.length === 0) {
        return { test: isTrue };
      }
      const tested =
        tests.length > 0 ? [listed({ test: isTrue }, index.size)] : [];
      return { ranks: inAny([...lists, ...tested]) };
    },
    not: ({ test, ranks }) => {
      if (test) {
        return { test: rank => !test(rank) };
      }
      const found = new Uint8Array(index.size);
      for (const rank of ranks) {
        found[rank] = 1;
      }
      return { test: rank => found[rank] === 0 };
    },
  });
}

function listed({ test, ranks }: Part, size: number): Uint32Array {
  return test
    ? ranksThat(
        Uint32Array.from({ length: size }, (_, rank) => rank),
        test,
      )
    : ranks;
}

function testsOf(parts: readonly Part[]): readonly RankTest[] {
  return parts.flatMap(({ test }) => test ?? []);
}

function listsOf(parts: readonly Part[]): readonly Uint32Array[] {
  return parts.flatMap(({ ranks }) => (ranks ? [ranks] : []));
}
