/** Ratio of lengths above which a binary search is faster than a merge. */
const MIN_SEARCH_RATIO = 16;

/** Positions of entries in the order of lists, sorted in any way. */
export type Ranks = Uint32Array | readonly number[];

/** Returns the ranks that are in all of these ordered lists. */
export function inAll(lists: readonly Uint32Array[]): Uint32Array {
  const [shortest, ...others] = lists.toSorted((a, b) => a.length - b.length);
  return others.reduce(
    (found, list) => inBoth(found, list),
    shortest ?? new Uint32Array(),
  );
}

/** Returns the ranks that are in any of these ordered lists, in order. */
export function inAny(lists: readonly Uint32Array[]): Uint32Array {
  const ranks: number[] = [];
  let size = 0;
  for (const list of lists) {
    for (let at = 0; at < list.length; at++) {
      ranks.push(list[at]);
    }
    size = Math.max(size, (list.at(-1) ?? -1) + 1);
  }
  return inOrder(ranks, size);
}

/** Sorts ranks by value; ranks without a value come last. */
export function sortRanks(
  ranks: Uint32Array,
  valueOf: (rank: number) => string | number | undefined,
  { descending }: { readonly descending: boolean },
): readonly number[] {
  const before = descending ? 1 : -1;
  return Array.from(ranks, rank => ({ rank, value: valueOf(rank) }))
    .sort((a, b) => {
      if (a.value === b.value) {
        return a.rank - b.rank;
      }
      if (a.value === undefined || b.value === undefined) {
        return a.value === undefined ? 1 : -1;
      }
      return a.value < b.value ? before : -before;
    })
    .map(({ rank }) => rank);
}

/** Returns all ranks below a number, in order. */
export function ranksBelow(size: number): Uint32Array {
  const ranks = new Uint32Array(size);
  for (let rank = 0; rank < size; rank++) {
    ranks[rank] = rank;
  }
  return ranks;
}

/** Like `ranks.filter`, which takes four times as long for a large list. */
export function ranksThat(
  ranks: Uint32Array,
  pass: (rank: number) => boolean,
): Uint32Array {
  const found = new Uint32Array(ranks.length);
  let count = 0;
  for (let at = 0; at < ranks.length; at++) {
    const rank = ranks[at];
    if (pass(rank)) {
      found[count++] = rank;
    }
  }
  return found.slice(0, count);
}

function inBoth(shorter: Uint32Array, longer: Uint32Array): Uint32Array {
  const { length } = longer;
  // For example, the list of all ranks.
  const hasAllBelow = length > 0 && longer[length - 1] === length - 1;
  if (hasAllBelow && (shorter.at(-1) ?? 0) < length) {
    return shorter;
  }
  if (shorter.length * MIN_SEARCH_RATIO < length) {
    return ranksThat(shorter, rank => includes(longer, rank));
  }
  let at = 0;
  return ranksThat(shorter, rank => {
    while (longer[at] < rank) {
      at++;
    }
    return longer[at] === rank;
  });
}

/** Returns whether an ordered list has a rank, by binary search. */
export function includes(list: Uint32Array, rank: number): boolean {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle] < rank) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return list[low] === rank;
}

/** Share of all ranks below which a list is sorted instead of marked. */
const MAX_SORTED_SHARE = 1 / 32;

/** Returns these ranks in order, each once. All must be below `size`. */
export function inOrder(ranks: readonly number[], size: number): Uint32Array {
  if (ranks.length < size * MAX_SORTED_SHARE) {
    return Uint32Array.from(new Set(ranks)).sort();
  }
  const isFound = new Uint8Array(size);
  for (const rank of ranks) {
    isFound[rank] = 1;
  }
  const found = new Uint32Array(ranks.length);
  let count = 0;
  for (let rank = 0; rank < size; rank++) {
    if (isFound[rank] === 1) {
      found[count++] = rank;
    }
  }
  return found.slice(0, count);
}
