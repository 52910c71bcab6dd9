/** The ranks that are in all of these lists, each in order. */
export function inAll(lists: readonly Uint32Array[]): Uint32Array {
  const [shortest, ...others] = lists.toSorted((a, b) => a.length - b.length);
  return others.reduce(
    (found, list) => found.filter(rank => isAmong(list, rank)),
    shortest ?? new Uint32Array(),
  );
}

/** The ranks that are in any of these lists, in order. */
export function inAny(lists: readonly Uint32Array[]): Uint32Array {
  const found = new Set<number>();
  for (const list of lists) {
    for (const rank of list) {
      found.add(rank);
    }
  }
  return Uint32Array.from(found).sort();
}

/** Looks for a rank in an ordered list by halving what is left. */
function isAmong(list: Uint32Array, rank: number): boolean {
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
