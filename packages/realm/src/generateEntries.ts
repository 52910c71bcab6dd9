import { createHash } from 'node:crypto';
import { readData } from './realmFiles';

/** Lines in LDIF of entries by DN; none is folded, and `memberOf` is missing. */
type Entries = Map<string, string[]>;

/** Words of generated entries; careless parsing mishandles the unusual names. */
const WORDS: Record<string, string[]> & {
  readonly unusualNames: string[][];
  readonly kinds: Record<string, string>;
} = JSON.parse(readData('words.json'));

/** Number of users per generated group, and minimum number of groups. */
const USERS_PER_GROUP = 60;
const MIN_GROUPS = 24;

/** A prime number: steps of this length reach all items of a list. */
const STEP = 7919;

/**
 * Generates a directory as LDIF records: the known people, groups, services,
 * hosts and agreements of the folder `data`, as many more users as necessary,
 * and groups of them. The same options result in the same records.
 *
 * @param options - `users`: number of FAS users, including the known ones
 */
export function generateEntries(options: {
  readonly users: number;
  readonly schema: 'fas' | 'freeipa';
}): string[] {
  const entries = readEntries('people.ldif');
  const known = [...entries.values()].filter(lines =>
    lines.includes('objectClass: fasuser'),
  );
  const users: string[] = [];
  const add = (lines: readonly string[], values: Values) => {
    const filled = lines.flatMap(line => fill(line, values, users));
    const dn = filled[0].slice('dn: '.length);
    entries.set(dn, filled);
    return dn;
  };
  const userTemplate = readLines('generated-user.ldif');
  for (let index = 0; index < options.users - known.length; index += 1) {
    users.push(add(userTemplate, userValues(index)));
  }
  const files = ['groups.ldif', 'machines.ldif'];
  const fasFiles = options.schema === 'fas' ? ['agreements.ldif'] : [];
  for (const file of [...files, ...fasFiles]) {
    for (const [dn, lines] of readEntries(file)) {
      add(lines, { seed: dn });
    }
  }
  const groupTemplate = readLines('generated-group.ldif');
  const count = Math.max(MIN_GROUPS, users.length / USERS_PER_GROUP);
  for (let rank = 1; rank <= count; rank += 1) {
    add(groupTemplate, groupValues(rank, users.length));
  }
  const records = formatAll(entries);
  return options.schema === 'fas' ? records : records.map(withoutFas);
}

/** Removes the values of freeipa-fas from LDIF without folded lines. */
export function withoutFas(ldif: string): string {
  const values = /^(fas\w+:|objectClass: fas|aci: .* acl "Read FAS ).*\n/gim;
  return ldif.replace(values, '');
}

/** Reads the lines of a file of the folder `data`, without comments. */
function readLines(file: string): string[] {
  const lines = readData(file).split('\n');
  return lines.filter(line => line !== '' && !line.startsWith('#'));
}

function readEntries(file: string): Entries {
  const entries: Entries = new Map();
  let lines: string[] = [];
  for (const line of readLines(file)) {
    if (line.startsWith('dn: ')) {
      lines = [];
      entries.set(line.slice('dn: '.length), lines);
    }
    lines.push(line);
  }
  return entries;
}

/** Values of a template by name, and what its random choices depend on. */
type Values = Readonly<Record<string, string>> & { readonly seed: string };

/**
 * Fills a line of a template. One with a percentage is in that share of the
 * entries; with `@users@`, it becomes one line for each user of that share.
 */
function fill(
  line: string,
  values: Values,
  users: readonly string[],
): string[] {
  const filled = line.replace(/@(\w+)@/g, (all, name) => values[name] ?? all);
  if (filled === line && !/^\d/.test(line)) {
    return [line];
  }
  const [, percentage = '100', text] = /^(?:([\d.]+)% )?(.*)$/.exec(filled)!;
  const share = Number(percentage) / 100;
  const seed = values.seed + line;
  if (text.endsWith('@users@')) {
    const dns = sample(users, share * users.length, seed);
    return dns.map(dn => text.replace('@users@', () => dn));
  }
  return noise(seed) < share ? [encode(text)] : [];
}

/** Encodes a value that is not plain in base64 (RFC 2849). */
function encode(line: string): string {
  const [, name, value] = /^(.*?): (.*)$/.exec(line)!;
  return /^[a-z0-9/_]([ -~]*[!-~])?$/i.test(value)
    ? line
    : `${name}:: ${Buffer.from(value).toString('base64')}`;
}

/** Formats entries, with `memberOf` as the memberOf plugin computes it. */
function formatAll(entries: Entries): string[] {
  const parents = new Map<string, string[]>();
  for (const [dn, lines] of entries) {
    for (const line of lines) {
      const [, member] = /^member(?:User)?: (.*)$/.exec(line) ?? [];
      if (member) {
        parents.set(member, [...(parents.get(member) ?? []), dn]);
      }
    }
  }
  const collect = (dn: string, found: Set<string>): Set<string> => {
    for (const parent of parents.get(dn) ?? []) {
      if (!found.has(parent)) {
        collect(parent, found.add(parent));
      }
    }
    return found;
  };
  return [...entries].map(([dn, lines]) => {
    const groups = [...collect(dn, new Set())].map(name => `memberOf: ${name}`);
    return `${[...lines, ...groups].join('\n')}\n\n`;
  });
}

/** Returns the values of the template of users. */
function userValues(index: number) {
  const [uid, givenName, surname] = userNames(index);
  const digest = hash(`user ${index}`);
  // An Ed25519 public key as in `authorized_keys` (RFC 8709 §4).
  const type = Buffer.from('ssh-ed25519').toString('hex');
  const key = `0000000b${type}00000020${digest}`;
  return {
    seed: uid,
    uid,
    givenName,
    surname,
    nick: uid.toLowerCase().replace(/[^a-z0-9]/g, ''),
    number: `${1_000_101 + index}`,
    uuid: uuid(digest),
    key: Buffer.from(key, 'hex').toString('base64'),
    hexadecimal16: digest.slice(0, 16).toUpperCase(),
    hexadecimal40: digest.slice(0, 40).toUpperCase(),
    created: `20${10 + (index % 15)}0${1 + (index % 9)}15120000Z`,
    locked: pick(['TRUE', 'FALSE'], index),
    private: index % 25 === 0 ? 'TRUE' : 'FALSE',
    domain: pick(['com', 'net', 'test'], index),
    timezone: pick(WORDS.timezones, index),
    locale: pick(WORDS.locales, index),
    pronoun: pick(WORDS.pronouns, index),
    topic: pick(WORDS.topics, index),
  };
}

/** Returns the user name, the given name and the surname of a user. */
function userNames(index: number): string[] {
  const { givenNames, surnameStarts, surnameEnds, unusualNames } = WORDS;
  if (index % 20 === 7) {
    const [name, ...names] = pick(unusualNames, (index - 7) / 20);
    return [`${name}${index}`, ...names];
  }
  const given = pick(givenNames, index);
  const block = Math.floor(index / givenNames.length);
  const end = Math.floor(block / surnameStarts.length) + index;
  const surname = pick(surnameStarts, block + index) + pick(surnameEnds, end);
  const separator = pick(['.', '_', '-', ''], index);
  const count = givenNames.length * surnameStarts.length * surnameEnds.length;
  const suffix = index < count ? '' : `${index}`;
  const uid = given.toLowerCase() + separator + surname.toLowerCase() + suffix;
  return [uid, given, surname];
}

/** Returns the values of the template of groups. */
function groupValues(rank: number, users: number) {
  const { topics, kinds, separators } = WORDS;
  const topic = pick(topics, rank);
  const block = Math.floor(rank / topics.length);
  const kind = pick(Object.keys(kinds), rank + block);
  const suffix = block < Object.keys(kinds).length ? '' : `${rank}`;
  const name = topic + pick(separators, rank) + kind + suffix;
  return {
    seed: name,
    name,
    // A few large groups and many small ones.
    memberShare: `${2 / rank + (100 * (rank % 12)) / users}`,
    sponsorShare: `${(100 * (rank % 5)) / users}`,
    description: kinds[kind].replace('@topic@', topic),
    uuid: uuid(hash(`group ${rank}`)),
    number: `${500_100 + rank}`,
  };
}

function pick<T>(list: readonly T[], index: number): T {
  return list[index % list.length];
}

/** Returns different items of a list. */
function sample<T>(list: readonly T[], size: number, seed: string): T[] {
  const start = Math.floor(noise(seed) * list.length);
  const length = Math.min(Math.ceil(size), list.length);
  return Array.from({ length }, (_, index) => pick(list, start + STEP * index));
}

function hash(seed: string): string {
  return createHash('sha256').update(seed).digest('hex');
}

/** Returns a number from 0 up to, but not including, 1. */
function noise(seed: string): number {
  return parseInt(hash(seed).slice(0, 8), 16) / 2 ** 32;
}

function uuid(digest: string): string {
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(digest)!;
  return parts.join('-');
}
