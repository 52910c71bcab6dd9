/** A value: a string if it is UTF-8, otherwise a buffer. */
export type LdifValue = string | Buffer;

/** Values by attribute; an attribute without values is omitted. */
export type LdifAttributes = Readonly<
  Record<string, LdifValue | readonly LdifValue[] | undefined>
>;

/** A directory entry, with its attributes in the order of the file. */
export class LdifEntry {
  readonly #attributes = new Map<string, LdifValue[]>();
  /** First spelling of an attribute, by its name in lower case. */
  readonly #spelling = new Map<string, string>();

  constructor(
    readonly dn: string,
    attributes: LdifAttributes = {},
  ) {
    for (const [name, values = []] of Object.entries(attributes)) {
      this.add(name, ...(Array.isArray(values) ? values : [values]));
    }
  }

  /** Adds values; the case of attribute names is ignored (RFC 4512 §2.5). */
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

  /** Replaces the values of an attribute, or removes it. */
  replace(name: string, ...values: LdifValue[]): this {
    this.#attributes.delete(name.toLowerCase());
    return this.add(name, ...values);
  }

  /** Returns the values of an attribute. */
  all(name: string): readonly LdifValue[] {
    return this.#attributes.get(name.toLowerCase()) ?? [];
  }

  /** Returns the values that are strings. */
  texts(name: string): string[] {
    return this.all(name).filter(value => typeof value === 'string');
  }

  /** Returns whether the entry has an object class, ignoring case. */
  isA(objectClass: string): boolean {
    const wanted = objectClass.toLowerCase();
    return this.texts('objectClass').some(
      name => name.toLowerCase() === wanted,
    );
  }

  /** Iterates over attributes with their values. */
  *[Symbol.iterator](): Iterator<[string, readonly LdifValue[]]> {
    for (const [key, values] of this.#attributes) {
      yield [this.#spelling.get(key) ?? key, values];
    }
  }
}

/** A DN that is already normalized, as most DNs are. */
const NORMAL = /^[a-z0-9]+=[a-z0-9._-]+(,[a-z0-9]+=[a-z0-9._-]+)*$/;

/**
 * Normalizes a DN for comparison: lower case, no optional spaces, one form of
 * all characters that can be escaped (RFC 4514 §3).
 */
export function normalizeDn(dn: string): string {
  const lower = dn.toLowerCase();
  if (NORMAL.test(lower)) {
    return lower;
  }
  return splitUnescaped(lower, /[,;]/)
    .map(rdn => splitUnescaped(rdn, /\+/).map(normalizePair).join('+'))
    .join(',');
}

function normalizePair(pair: string): string {
  const equals = pair.indexOf('=');
  const type = pair.slice(0, equals).trim();
  const value = unescape(pair.slice(equals + 1)).toLowerCase();
  return `${type}=${value.replace(/[^a-z0-9._-]/gu, percentEncode)}`;
}

function percentEncode(char: string): string {
  const hex = Buffer.from(char, 'utf8').toString('hex');
  return hex.replace(/../g, '%$&');
}

/** Splits at separators that are neither escaped nor quoted. */
function splitUnescaped(text: string, separator: RegExp): string[] {
  const parts = [''];
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    if (char === '\\') {
      parts[parts.length - 1] += char + (text[index + 1] ?? '');
      index += 1;
    } else if (!quoted && separator.test(char)) {
      parts.push('');
    } else {
      quoted = char === '"' ? !quoted : quoted;
      parts[parts.length - 1] += char;
    }
  }
  return parts;
}

function unescape(escaped: string): string {
  const trimmed = escaped.replace(/^ +/, '').replace(/(?<!\\) +$/, '');
  const bare = trimmed.replace(/^"(.*)"$/s, '$1');
  const octets: number[] = [];
  for (const [token, hex, char] of bare.matchAll(/\\([0-9a-f]{2})|\\?(.)/gsu)) {
    if (hex) {
      octets.push(Number.parseInt(hex, 16));
    } else {
      octets.push(...Buffer.from(char ?? token, 'utf8'));
    }
  }
  return Buffer.from(octets).toString('utf8');
}

/** Escapes a value of a DN (RFC 4514 §2.4). */
export function escapeRdnValue(value: string): string {
  return value
    .replace(/[\\"+,;<>=]/g, '\\$&')
    .replaceAll('\0', '\\00')
    .replace(/^[ #]/, '\\$&')
    .replace(/(?<!\\) $/, '\\ ');
}
