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

/** A DN in the one form that this module makes, as most DNs are already. */
const NORMAL = /^[a-z0-9]+=[a-z0-9._-]+(,[a-z0-9]+=[a-z0-9._-]+)*$/;

/**
 * A key under which two spellings of one DN meet: lower case, no optional
 * blanks, every character that could be escaped in one form (RFC 4514 §3). Made
 * for comparing, not for sending.
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

/** Splits where the separator is neither escaped nor quoted. */
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

/** A value made safe for a distinguished name (RFC 4514 §2.4). */
export function escapeRdnValue(value: string): string {
  return value
    .replace(/[\\"+,;<>=]/g, '\\$&')
    .replaceAll('\0', '\\00')
    .replace(/^[ #]/, '\\$&')
    .replace(/(?<!\\) $/, '\\ ');
}
