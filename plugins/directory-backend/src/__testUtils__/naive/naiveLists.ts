import type { UserStream } from '../../directory/Directory';
import type { Page, PageRequest } from '../../directory/Page';
import type { User } from '../../directory/records';
import type { DumpedEntry } from './DumpedEntry';

/** Those of a container that are served, in the order of lists. */
export function served(
  entries: readonly DumpedEntry[],
  container: string,
  { as, by }: { readonly as: string; readonly by: string },
): readonly DumpedEntry[] {
  return entries
    .filter(entry => entry.isIn(container) && entry.isA(as))
    .filter(entry => {
      const name = entry.text(by)!;
      // A single inner space is as good as a dash in the name of a group.
      return isProperName(
        by === 'cn' ? name.replace(/ (?=[^ $])/g, '-') : name,
      );
    })
    .sort((a, b) => byName(a.text(by)!, b.text(by)!));
}

/** The one of a name, which matches as the directory matches it. */
export function named(
  entries: readonly DumpedEntry[],
  attribute: string,
  name: string,
): DumpedEntry | undefined {
  return entries.find(
    entry => entry.text(attribute)!.toLowerCase() === name.toLowerCase(),
  );
}

/** A page as a stream. */
export function streamOf({ items, total }: Page<User>): UserStream {
  async function* portions() {
    yield items;
  }
  return { total, portions: portions() };
}

/** Whether a name follows the pattern. */
export function isProperName(name: string): boolean {
  return name.length <= 256 && /^[a-z0-9_.][a-z0-9_.-]{0,254}[$]?$/i.test(name);
}

/** Orders names as lists do. */
export function byName(a: string, b: string): number {
  const [first, second] = [a.toLowerCase(), b.toLowerCase()];
  if (first === second) {
    return a < b ? -1 : 1;
  }
  return first < second ? -1 : 1;
}

/** One page of a list. */
export function pageOf<T>(
  all: readonly T[],
  { number, size }: PageRequest,
): Page<T> {
  const items = all.filter(
    (_, index) => Math.ceil((index + 1) / size) === number,
  );
  return { items, total: all.length };
}
