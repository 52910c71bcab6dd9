/** Who names an entry: links the other way round, kept as they change. */
export class LinkIndex {
  readonly #sources = new Map<string, string[]>();

  /** Those that name an entry, in order. */
  of(target: string): readonly string[] {
    return this.#sources.get(target) ?? [];
  }

  /**
   * A source names others than before.
   *
   * @returns whether that is so
   */
  replace(
    source: string,
    old: readonly string[],
    now: readonly string[],
  ): boolean {
    // Of a large group one name changes at a time, and no name is twice in one.
    const { start, oldEnd, nowEnd } = differingPart(old, now);
    const before = new Set(old.slice(start, oldEnd));
    const after = new Set(now.slice(start, nowEnd));
    const gone = [...before].filter(target => !after.has(target));
    const added = [...after].filter(target => !before.has(target));
    for (const target of gone) {
      this.#remove(target, source);
    }
    for (const target of added) {
      this.#add(target, source);
    }
    return gone.length + added.length > 0;
  }

  #add(target: string, source: string): void {
    const sources = this.#sources.get(target);
    if (!sources) {
      this.#sources.set(target, [source]);
      return;
    }
    const after = sources.findIndex(other => other > source);
    sources.splice(after === -1 ? sources.length : after, 0, source);
  }

  #remove(target: string, source: string): void {
    const others = this.of(target).filter(other => other !== source);
    if (others.length > 0) {
      this.#sources.set(target, others);
    } else {
      this.#sources.delete(target);
    }
  }
}

/** Where two lists begin to differ, and where each ends to. */
function differingPart(old: readonly string[], now: readonly string[]) {
  let start = 0;
  while (start < old.length && old[start] === now[start]) {
    start++;
  }
  let oldEnd = old.length;
  let nowEnd = now.length;
  while (
    oldEnd > start &&
    nowEnd > start &&
    old[oldEnd - 1] === now[nowEnd - 1]
  ) {
    oldEnd--;
    nowEnd--;
  }
  return { start, oldEnd, nowEnd };
}
