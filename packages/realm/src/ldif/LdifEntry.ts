/** A value as LDIF carries it: text where it is UTF-8, octets otherwise. */
export type LdifValue = string | Buffer;

/** One directory entry: its DN and its attributes in the order of the file. */
export class LdifEntry {
  readonly #attributes = new Map<string, LdifValue[]>();
  /** How an attribute was first spelled, by its lower-case description. */
  readonly #spelling = new Map<string, string>();

  constructor(
    readonly dn: string,
    attributes: Record<string, LdifValue | readonly LdifValue[]> = {},
  ) {
    for (const [name, values] of Object.entries(attributes)) {
      this.add(name, ...(Array.isArray(values) ? values : [values]));
    }
  }

  /** Adds values; attribute descriptions are compared without case (RFC 4512 §2.5). */
  add(name: string, ...values: LdifValue[]): this {
    const key = name.toLowerCase();
    const present = this.#attributes.get(key);
    if (present) {
      present.push(...values);
    } else if (values.length > 0) {
      this.#attributes.set(key, values);
      this.#spelling.set(key, name);
    }
    return this;
  }

  /** Puts these values in place of whatever the attribute had; none removes it. */
  replace(name: string, ...values: LdifValue[]): this {
    this.#attributes.delete(name.toLowerCase());
    return this.add(name, ...values);
  }

  /** All values, empty when the attribute is absent. */
  all(name: string): readonly LdifValue[] {
    return this.#attributes.get(name.toLowerCase()) ?? [];
  }

  /** The values that are text. */
  texts(name: string): string[] {
    return this.all(name).filter(value => typeof value === 'string');
  }

  /** Whether the entry has this object class, compared without case. */
  isA(objectClass: string): boolean {
    const wanted = objectClass.toLowerCase();
    return this.texts('objectClass').some(
      name => name.toLowerCase() === wanted,
    );
  }

  /** Attribute description and values, in order. */
  *[Symbol.iterator](): Iterator<[string, readonly LdifValue[]]> {
    for (const [key, values] of this.#attributes) {
      yield [this.#spelling.get(key) ?? key, values];
    }
  }
}
