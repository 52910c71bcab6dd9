/** With so much longer a list, looking in it is faster than going along it. */
const FAR_LONGER = 16;

/** The ranks that are in all of these lists, each in order. */
export function inAll(lists: readonly Uint32Array[]): Uint32Array {
  const [shortest, ...others] = lists.toSorted((a, b) => a.length - b.length);
  return others.reduce(
    (found, list) =>
      found.length * FAR_LONGER < list.length
        ? ranksThat(found, rank => isAmong(list, rank))
        : inBoth(found, list),
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

/**
 * Those of these ranks that pass, in their order: what `filter` finds, which
 * takes some four times as long for a list of very many.
 */
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

/** Goes along two ordered lists. */
function inBoth(a: Uint32Array, b: Uint32Array): Uint32Array {
  let at = 0;
  return ranksThat(a, rank => {
    while (b[at] < rank) {
      at++;
    }
    return b[at] === rank;
  });
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

/** A list of so small a share of all is sorted rather than marked. */
const SMALL_SHARE = 1 / 32;

/** These ranks in order, each once, where `size` is more than any of them. */
export function inOrder(ranks: readonly number[], size: number): Uint32Array {
  if (ranks.length < size * SMALL_SHARE) {
    return Uint32Array.from(new Set(ranks)).sort();
  }
  const marks = new Uint8Array(size);
  let count = 0;
  for (const rank of ranks) {
    count += marks[rank] === 0 ? 1 : 0;
    marks[rank] = 1;
  }
  const found = new Uint32Array(count);
  let at = 0;
  for (let rank = 0; at < count; rank++) {
    if (marks[rank] === 1) {
      found[at++] = rank;
    }
  }
  return found;
}
