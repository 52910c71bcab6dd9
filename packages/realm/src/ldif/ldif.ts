import { LdifEntry, type LdifValue } from './LdifEntry';

/**
 * Parses LDIF content records (RFC 2849). Change records (`changetype`) and
 * values by URL (`:<`) are not supported.
 *
 * @throws Error with the number of the invalid line
 */
export function parseLdif(text: string): LdifEntry[] {
  const entries: LdifEntry[] = [];
  let entry: LdifEntry | undefined;
  for (const { line, number } of logicalLines(text)) {
    if (line === '') {
      entry = undefined;
    } else {
      const [name, value] = parseLine(line, number);
      const key = name.toLowerCase();
      if (entry) {
        if (key === 'changetype') {
          throw new Error(
            `LDIF line ${number}: change records are not supported`,
          );
        }
        entry.add(name, value);
      } else if (key === 'dn') {
        entry = new LdifEntry(String(value));
        entries.push(entry);
      } else if (key !== 'version') {
        throw new Error(`LDIF line ${number}: a record starts with "dn:"`);
      }
    }
  }
  return entries;
}

interface LogicalLine {
  line: string;
  /** Number of its first physical line, from 1. */
  number: number;
}

/** Joins folded lines and drops comments (RFC 2849, notes 1 and 2). */
function* logicalLines(text: string): Generator<LogicalLine> {
  let current: LogicalLine | undefined;
  let number = 0;
  for (const physical of text.split(/\r?\n/)) {
    number += 1;
    if (physical.startsWith(' ') && current) {
      current.line += physical.slice(1);
    } else {
      if (current && !current.line.startsWith('#')) {
        yield current;
      }
      current = { line: physical, number };
    }
  }
  if (current && !current.line.startsWith('#')) {
    yield current;
  }
}

function parseLine(line: string, number: number): [string, LdifValue] {
  const match = /^([A-Za-z0-9.;-]+):([:<]?) *(.*)$/su.exec(line);
  if (!match) {
    throw new Error(`LDIF line ${number}: not an attribute and a value`);
  }
  const [, name, kind, rest] = match;
  switch (kind) {
    case '':
      return [name, rest];
    case ':':
      return [name, decode(rest)];
    default:
      throw new Error(`LDIF line ${number}: values by URL are not supported`);
  }
}

function decode(base64: string): LdifValue {
  const octets = Buffer.from(base64, 'base64');
  const text = octets.toString('utf8');
  return Buffer.from(text, 'utf8').equals(octets) ? text : octets;
}

/**
 * The printable part of RFC 2849's SAFE-STRING, without a trailing space, which
 * some parsers drop.
 */
const SAFE = /^(?![ :<])[ -~]*(?<! )$/;

/** Formats an entry as an LDIF content record and an empty line. */
export function formatLdif(entry: LdifEntry): string {
  const lines = [formatLine('dn', entry.dn)];
  for (const [name, values] of entry) {
    for (const value of values) {
      lines.push(formatLine(name, value));
    }
  }
  return `${lines.join('\n')}\n\n`;
}

function formatLine(name: string, value: LdifValue): string {
  if (typeof value === 'string' && SAFE.test(value)) {
    return `${name}: ${value}`;
  }
  const octets = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return `${name}:: ${octets.toString('base64')}`;
}
