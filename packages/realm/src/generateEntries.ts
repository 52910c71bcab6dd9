import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BASE_DN, PACKAGE_FOLDER } from './realmFiles';

/** Lines in LDIF of entries by DN; none is folded, and `memberOf` is missing. */
type Entries = Map<string, string[]>;

/** Shares of all FAS users that are in groups and agreements of the data. */
const SHARES: Readonly<Record<string, number>> = {
  contributors: 0.9,
  packager: 0.05,
  provenpackager: 0.01,
  'rel-eng': 0.004,
  infra: 0.006,
  sysadmin_main: 0.002,
  design: 0.01,
  'design team': 0.005,
  'python-sig': 0.03,
  'go.sig': 0.01,
  FPCA: 0.8,
  'CentOS Agreement': 0.1,
  'Old CLA': 0.3,
};

/** Number of users per generated group, and minimum number of groups. */
const USERS_PER_GROUP = 60;
const MIN_GROUPS = 24;

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
}): Iterable<string> {
  const random = new Random();
  const people = readEntries('people.ldif');
  const users = [...people.keys()].filter(dn =>
    people.get(dn)?.includes('objectClass: fasuser'),
  );
  const taken = new Set([...people.keys()].map(nameOf));
  const userTemplate = readLines('generated-user.ldif');
  while (users.length < options.users) {
    const values = userValues(random, people.size, taken);
    users.push(addGenerated(people, userTemplate, values, random));
  }
  const groups = readEntries('groups.ldif');
  addValues(groups.get(groupDn('ipausers')), 'member', [...people.keys()]);
  const agreements = readEntries('agreements.ldif');
  for (const [dn, lines] of [...groups, ...agreements]) {
    const share = SHARES[nameOf(dn)] ?? 0;
    const sample = random.sample(users, share * users.length);
    addValues(lines, agreements.has(dn) ? 'memberUser' : 'member', sample);
  }
  const names = new Set([...groups.keys()].map(nameOf));
  const groupTemplate = readLines('generated-group.ldif');
  const count = Math.max(MIN_GROUPS, users.length / USERS_PER_GROUP);
  for (let rank = 1; rank <= count; rank += 1) {
    const values = groupValues(random, rank, names);
    const dn = addGenerated(groups, groupTemplate, values, random);
    // A few large groups and many small ones.
    const size = (0.02 * users.length) / rank + random.below(12);
    addValues(groups.get(dn), 'member', random.sample(users, size));
    const sponsors = random.sample(users, random.below(5));
    addValues(groups.get(dn), 'memberManager', sponsors);
  }
  const entries = [...people, ...groups, ...readEntries('machines.ldif')];
  return options.schema === 'fas'
    ? records(new Map([...entries, ...agreements]))
    : records(new Map(entries)).map(withoutFas);
}

/** Removes the values of freeipa-fas from LDIF without folded lines. */
export function withoutFas(ldif: string): string {
  const values = /^(fas\w+:|objectClass: fas|aci: .* acl "Read FAS ).*\n/gim;
  return ldif.replace(values, '');
}

/** Reads the lines of a file of the folder `data`, without comments. */
function readLines(file: string): string[] {
  const text = readFileSync(join(PACKAGE_FOLDER, 'data', file), 'utf8');
  return text.split('\n').filter(line => !line.startsWith('#'));
}

function readEntries(file: string): Entries {
  const entries: Entries = new Map();
  let lines: string[] = [];
  for (const line of readLines(file)) {
    if (line.startsWith('dn: ')) {
      lines = [];
      entries.set(line.slice('dn: '.length), lines);
    }
    if (line !== '') {
      lines.push(line);
    }
  }
  return entries;
}

/** Returns the name in a DN, without escape characters. */
function nameOf(dn: string): string {
  return dn.slice(dn.indexOf('=') + 1, dn.indexOf(',')).replace(/\\/g, '');
}

function groupDn(name: string): string {
  return `cn=${name},cn=groups,cn=accounts,${BASE_DN}`;
}

/** Adds values that an entry does not have yet. */
function addValues(
  lines: string[] = [],
  attribute: string,
  values: readonly string[],
): void {
  const present = new Set(lines);
  for (const line of values.map(value => `${attribute}: ${value}`)) {
    if (!present.has(line)) {
      lines.push(line);
    }
  }
}

/**
 * Adds an entry with the values of a template.
 *
 * @returns its DN
 */
function addGenerated(
  entries: Entries,
  template: readonly string[],
  values: Readonly<Record<string, string>>,
  random: Random,
): string {
  const lines = template.filter(Boolean).flatMap(line => {
    const [, percentage = '100', text] = /^(?:(\d+)% )?(.*)$/.exec(line)!;
    return random.below(100) < Number(percentage)
      ? [encode(text.replace(/@(\w+)@/g, (_, name) => values[name]))]
      : [];
  });
  const dn = lines[0].slice('dn: '.length);
  entries.set(dn, lines);
  return dn;
}

/** Encodes a value that is not plain in base64 (RFC 2849). */
function encode(line: string): string {
  const [, name, value] = /^(.*?): (.*)$/.exec(line)!;
  return /^[a-z0-9/]([ -~]*[!-~])?$/i.test(value)
    ? line
    : `${name}:: ${Buffer.from(value).toString('base64')}`;
}

/** Formats entries, with `memberOf` as the memberOf plugin computes it. */
function records(entries: Entries): string[] {
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

const GIVEN_NAMES =
  'Ada Alan Barbara Ben Clara Carl Dana Dennis Edith Elias Fiona Felix Grace Gabriel Hannah Henry Ines Ivan Julia Jonas Karen Kevin Laura Leo Maria Martin Nina Noah Olga Oscar Paula Peter Rosa Ruben Sarah Simon Tina Tom Vera Victor'.split(
    ' ',
  );
const SURNAME_STARTS =
  'Ash Bex Black Brad Brom Clif Crof Dal East Fair Green Hal Hamp Hart Lang Mar Mid Nor Pres Red Roth Shel Stan Wake Wes Whit'.split(
    ' ',
  );
const SURNAME_ENDS =
  'bourne bury by combe field ford ham hurst ley lington man more over son stead ton well wick wood worth'.split(
    ' ',
  );

/** Names that careless parsing mishandles. */
const UNUSUAL_NAMES = [
  ['Łukasz', 'Wójcik'],
  ['Zoë', 'Çelik'],
  ['José María', 'Núñez'],
  ['太郎', '山田'],
  ['Ελένη', 'Παπαδοπούλου'],
  ['Rick', 'Jr., Esq.'],
  ['Star', 'Back\\Slash*(x)'],
  ['Quote', '"Q" <b>; #1 a=b'],
];

/** Forms of user names, some more frequent than others. */
const USER_NAMES: readonly ((first: string, last: string) => string)[] = [
  (first, last) => first.charAt(0) + last,
  (first, last) => first.charAt(0) + last,
  (first, last) => `${first}.${last}`,
  (first, last) => `${first}_${last}`,
  (first, last) => `${first}-${last}`,
  (first, last) => first + last.slice(0, 3),
  (first, last) => last.charAt(0).toUpperCase() + last.slice(1) + first,
];

const TOPICS =
  'alarm array bus cache card cloud driver feed firewall kernel matrix monitor panel pixel port protocol sensor storage system transmitter'.split(
    ' ',
  );

/** Kinds of groups, with their descriptions. */
const KINDS: Readonly<Record<string, (topic: string) => string>> = {
  sig: topic => `Special interest group: ${topic}`,
  team: topic => `Develops and runs the ${topic} service`,
  commits: topic => `May commit to the ${topic} repositories`,
  wg: topic => `Plans the next version of the ${topic}`,
  maint: topic => `Maintains the ${topic} packages`,
  qa: topic => `Tests the ${topic} before each release`,
  docs: topic => `Writes the documentation of the ${topic}`,
  sponsors: topic => `Helps new contributors to the ${topic}`,
};

/** Returns the values of the template of users. */
function userValues(random: Random, index: number, taken: Set<string>) {
  const [givenName, surname] =
    random.below(20) === 0
      ? random.pick(UNUSUAL_NAMES)
      : [
          random.pick(GIVEN_NAMES),
          random.pick(SURNAME_STARTS) + random.pick(SURNAME_ENDS),
        ];
  const userName = random.pick(USER_NAMES);
  const uid = unusedName(userName(letters(givenName), letters(surname)), taken);
  return {
    uid,
    givenName,
    surname,
    nick: uid.toLowerCase().replace(/[^a-z0-9]/g, ''),
    number: `${1_000_101 + index}`,
    uuid: random.uuid(),
    key: sshKey(random),
    domain: random.pick(['com', 'net', 'test']),
    locked: random.pick(['TRUE', 'FALSE']),
    private: random.below(100) < 3 ? 'TRUE' : 'FALSE',
    created: `20${10 + random.below(15)}0${1 + random.below(9)}15120000Z`,
    timezone: random.pick(['UTC', 'Europe/Berlin', 'America/New_York']),
    locale: random.pick(['en-US', 'de-DE', 'fr-FR']),
    pronoun: random.pick(['she/her', 'he/him', 'they/them']),
    hexadecimal16: random.hexadecimal(16).toUpperCase(),
    hexadecimal40: random.hexadecimal(40).toUpperCase(),
    topic: random.pick(TOPICS),
  };
}

/** Returns the values of the template of groups. */
function groupValues(random: Random, rank: number, taken: Set<string>) {
  const topic = random.pick(TOPICS);
  const kind = random.pick(Object.keys(KINDS));
  const separator = random.pick(['-', '-', '-', '_', '.', '']);
  return {
    name: unusedName(topic + separator + kind, taken),
    description: KINDS[kind](topic),
    uuid: random.uuid(),
    number: `${500_100 + rank}`,
  };
}

/** Returns a name that is not taken, in any case, and takes it. */
function unusedName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name.toLowerCase()); count += 1) {
    name = `${wanted}${count}`;
  }
  taken.add(name.toLowerCase());
  return name;
}

/** Returns the letters of a name without diacritics, in lower case. */
function letters(name: string): string {
  const decomposed = name.normalize('NFKD').toLowerCase();
  return decomposed.replace(/[^a-z]/g, '') || 'user';
}

/** Returns an Ed25519 public key as in `authorized_keys` (RFC 8709 §4). */
function sshKey(random: Random): string {
  const header = Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0\x20', 'latin1');
  const key = Buffer.from(random.hexadecimal(64), 'hex');
  return Buffer.concat([header, key]).toString('base64');
}

/** Numbers that are the same in each run (mulberry32). */
class Random {
  #state = 1;

  /** Returns an integer from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    this.#state += 0x6d2b79f5;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  /** Returns different items of a list, at least the given number. */
  sample<T>(list: readonly T[], count: number): T[] {
    const items = new Set<T>();
    while (items.size < Math.min(count, list.length)) {
      items.add(this.pick(list));
    }
    return [...items];
  }

  hexadecimal(length: number): string {
    const seed = `${this.below(2 ** 32)}`;
    return createHash('sha256').update(seed).digest('hex').slice(0, length);
  }

  uuid(): string {
    const hex = this.hexadecimal(32);
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}
