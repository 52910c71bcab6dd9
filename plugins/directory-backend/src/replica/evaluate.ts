import { visitPredicate, type Predicate } from '../directory/predicates';
import { inAll, inAny, ranksThat } from './tables/rankSets';

/** Whether a predicate applies to the record of a rank. */
export type RankTest = (rank: number) => boolean;

/** To which ranks a predicate applies: a cheap test, or else all ranks in order. */
export type Matches =
  | { readonly test: RankTest; readonly ranks?: undefined }
  | { readonly test?: undefined; readonly ranks: Uint32Array };

/** Finds the ranks to which single conditions apply. */
export interface RankIndex<Condition> {
  /** Number of ranks. */
  readonly size: number;
  find(condition: Condition): Matches;
}

/** The ranks to which a predicate applies, in order. */
export function ranksWhere<Condition extends { readonly kind: string }>(
  where: Predicate<Condition>,
  index: RankIndex<Condition>,
): Uint32Array {
  return ranksOf(evaluate(where, index), index.size);
}

/** A test of single ranks. */
export function testWhere<Condition extends { readonly kind: string }>(
  where: Predicate<Condition>,
  index: RankIndex<Condition>,
): RankTest {
  return testOf(evaluate(where, index), index.size);
}

function evaluate<Condition extends { readonly kind: string }>(
  where: Predicate<Condition>,
  index: RankIndex<Condition>,
): Matches {
  return visitPredicate<Condition, Matches>(where, {
    condition: condition => index.find(condition),
    allOf: parts => {
      const tests = testsAmong(parts);
      const test: RankTest = rank => tests.every(each => each(rank));
      const lists = listsAmong(parts);
      if (lists.length === 0) {
        return { test };
      }
      const ranks = inAll(lists);
      return { ranks: tests.length > 0 ? ranksThat(ranks, test) : ranks };
    },
    anyOf: parts => {
      const tests = testsAmong(parts);
      const test: RankTest = rank => tests.some(each => each(rank));
      const lists = listsAmong(parts);
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

function ranksOf({ test, ranks }: Matches, size: number): Uint32Array {
  return test
    ? ranksThat(
        Uint32Array.from({ length: size }, (_, rank) => rank),
        test,
      )
    : ranks;
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

function testsAmong(parts: readonly Matches[]): readonly RankTest[] {
  return parts.flatMap(({ test }) => test ?? []);
}

function listsAmong(parts: readonly Matches[]): readonly Uint32Array[] {
  return parts.flatMap(({ ranks }) => (ranks ? [ranks] : []));
}
