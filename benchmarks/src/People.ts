import type { Entry } from 'ldapts';
import { equal, type DirectoryClient } from './DirectoryClient';

/** What an answer about a user is held against. */
export interface Person {
  readonly username: string;
  readonly emails: readonly string[];
  /** The served groups the user is in, nested ones included. */
  readonly groups: ReadonlySet<string>;
  /** How many agreements in force the user has signed. */
  readonly agreements: number;
  readonly locked: boolean;
  readonly isPrivate: boolean;
  readonly hasGithub: boolean;
}

/** A group with the names of those in it, in the order of the API's lists. */
export interface Group {
  readonly name: string;
  /** Everybody, locked accounts too, as a search finds them. */
  readonly found: readonly string[];
  /** Without locked accounts, as the list of members has them. */
  readonly members: readonly string[];
}

const SERVED = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,254}\$?$/;

/** Group names may contain single inner spaces. */
const SERVED_GROUP = /^[A-Za-z0-9_.]( ?[A-Za-z0-9_.-]){0,254}\$?$/;

const ATTRIBUTES = [
  ...['uid', 'mail', 'memberOf', 'nsAccountLock', 'fasIsPrivate'],
  'fasGitHubUsername',
];

/**
 * Everybody in the realm, read from the directory before anything is measured:
 * what is asked about, and what the answers must say.
 */
export class People {
  /** In the order of the API's lists: by name, whatever its case. */
  readonly all: readonly Person[];
  readonly usernames: readonly string[];
  readonly groups: readonly Group[];
  /** The names of those who have an e-mail address, in lower case. */
  readonly byEmail: ReadonlyMap<string, readonly string[]>;
  readonly #byName: ReadonlyMap<string, Person>;

  private constructor(people: Person[], groupnames: readonly string[]) {
    this.all = people.sort((a, b) => compare(a.username, b.username));
    this.usernames = this.all.map(({ username }) => username);
    this.#byName = new Map(this.all.map(person => [person.username, person]));
    this.byEmail = namesByEmail(this.all);
    const found = new Map<string, Person[]>(groupnames.map(name => [name, []]));
    for (const person of this.all) {
      for (const name of person.groups) {
        found.get(name)?.push(person);
      }
    }
    this.groups = [...found].map(([name, persons]) => ({
      name,
      found: persons.map(({ username }) => username),
      members: persons
        .filter(({ locked }) => !locked)
        .map(({ username }) => username),
    }));
  }

  static async read(directory: DirectoryClient): Promise<People> {
    const { users, groups } = directory.containers;
    const groupEntries = await directory.below({
      container: groups,
      filters: [equal('objectClass', 'fasGroup')],
      attributes: ['cn'],
    });
    const groupnames = groupEntries
      .map(entry => texts(entry, 'cn')[0])
      .filter(name => SERVED_GROUP.test(name));
    const groupsByDn = new Map(
      groupnames.map(name => [directory.groupDn(name).toLowerCase(), name]),
    );
    const signatures = await countSignatures(directory);
    const entries = await directory.below({
      container: users,
      filters: [equal('objectClass', 'fasUser')],
      attributes: ATTRIBUTES,
    });
    const people = entries
      .map(entry => toPerson(entry, { groupsByDn, signatures }))
      .filter(({ username }) => isServed(username));
    return new People(people, groupnames);
  }

  /** The user of a name in the directory's spelling. */
  byName(username: string): Person {
    return this.#byName.get(username)!;
  }

  /** The group with the most members. */
  get largestGroup(): Group {
    return this.groups.reduce((best, group) =>
      group.members.length > best.members.length ? group : best,
    );
  }

  /** The group whose number of members is nearest to this. */
  groupOfSize(size: number): Group {
    const distance = ({ members }: Group) => Math.abs(members.length - size);
    return this.groups.reduce((best, group) =>
      distance(group) < distance(best) ? group : best,
    );
  }
}

/** Whether the API serves a user of this name; the realm has others, too. */
export function isServed(name: string): boolean {
  return SERVED.test(name);
}

function toPerson(
  entry: Entry,
  known: {
    readonly groupsByDn: ReadonlyMap<string, string>;
    readonly signatures: ReadonlyMap<string, number>;
  },
): Person {
  const groups = texts(entry, 'memberOf')
    .map(dn => known.groupsByDn.get(dn.toLowerCase()))
    .filter(name => name !== undefined);
  return {
    username: texts(entry, 'uid')[0],
    emails: texts(entry, 'mail'),
    groups: new Set(groups),
    agreements: known.signatures.get(entry.dn.toLowerCase()) ?? 0,
    locked: texts(entry, 'nsAccountLock')[0] === 'TRUE',
    isPrivate: texts(entry, 'fasIsPrivate')[0] === 'TRUE',
    hasGithub: texts(entry, 'fasGitHubUsername').length > 0,
  };
}

/** How many agreements in force each user has signed, by DN in lower case. */
async function countSignatures(
  directory: DirectoryClient,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const agreements = await directory.below({
    container: directory.containers.agreements,
    filters: [
      equal('objectClass', 'fasAgreement'),
      equal('ipaEnabledFlag', 'TRUE'),
    ],
    attributes: ['memberUser'],
  });
  for (const dn of agreements.flatMap(entry => texts(entry, 'memberUser'))) {
    counts.set(dn.toLowerCase(), (counts.get(dn.toLowerCase()) ?? 0) + 1);
  }
  return counts;
}

function namesByEmail(
  people: readonly Person[],
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { username, emails } of people) {
    for (const email of new Set(emails.map(text => text.toLowerCase()))) {
      names.set(email, [...(names.get(email) ?? []), username]);
    }
  }
  return names;
}

function texts(entry: Entry, attribute: string): readonly string[] {
  const values = entry[attribute] ?? [];
  return (Array.isArray(values) ? values : [values]).map(String);
}

function compare(a: string, b: string): number {
  const [lowerA, lowerB] = [a.toLowerCase(), b.toLowerCase()];
  if (lowerA === lowerB) {
    return 0;
  }
  return lowerA < lowerB ? -1 : 1;
}
