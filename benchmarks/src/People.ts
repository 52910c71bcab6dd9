import type { Entry } from 'ldapts';
import type { DirectoryClient } from './DirectoryClient';

/** Properties of a user that determine correct responses. */
interface Person {
  readonly username: string;
  readonly emails: readonly string[];
  /** Direct and indirect groups of the user that the API serves. */
  readonly groups: ReadonlySet<string>;
  /** Number of enabled agreements that the user has signed. */
  readonly agreements: number;
  readonly locked: boolean;
  readonly expires: boolean;
  readonly isPrivate: boolean;
  readonly hasGithub: boolean;
}

/** A group with the user names of its members, in the order of the API. */
export interface Group {
  readonly name: string;
  /** Members in search results, including locked accounts. */
  readonly found: readonly string[];
  /** Members in the list of members, which omits locked accounts. */
  readonly members: readonly string[];
}

const USERNAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,254}\$?$/;
const GROUPNAME = /^[A-Za-z0-9_.]( ?[A-Za-z0-9_.-]){0,254}\$?$/;

const ATTRIBUTES = [
  'uid',
  'mail',
  'memberOf',
  'nsAccountLock',
  'krbPrincipalExpiration',
  'fasIsPrivate',
  'fasGitHubUsername',
];

/**
 * All users and groups of the realm, read from the directory before the
 * measurements: parameters of the requests, and expected content of the
 * responses.
 */
export class People {
  /** In the order of the API: by name, ignoring case. */
  readonly all: readonly Person[];
  readonly usernames: readonly string[];
  readonly groups: readonly Group[];
  /** User names by lowercase e-mail address. */
  readonly byEmail: ReadonlyMap<string, readonly string[]>;
  readonly #byName: ReadonlyMap<string, Person>;

  private constructor(people: Person[], groupnames: readonly string[]) {
    this.all = people.sort((a, b) => compare(a.username, b.username));
    this.usernames = this.all.map(({ username }) => username);
    this.#byName = new Map(this.all.map(person => [person.username, person]));
    const byEmail = new Map<string, string[]>();
    const byGroup = new Map<string, Person[]>();
    for (const person of this.all) {
      for (const name of person.groups) {
        addTo(byGroup, name, person);
      }
      for (const email of new Set(person.emails.map(lowerCase))) {
        addTo(byEmail, email, person.username);
      }
    }
    this.byEmail = byEmail;
    this.groups = groupnames.map(name => {
      const found = byGroup.get(name) ?? [];
      const members = found.filter(({ locked }) => !locked);
      return {
        name,
        found: found.map(({ username }) => username),
        members: members.map(({ username }) => username),
      };
    });
  }

  static async read(directory: DirectoryClient): Promise<People> {
    const { users, groups, agreements } = directory;
    const groupEntries = await directory.search(
      groups,
      '(objectClass=fasGroup)',
      ['cn'],
    );
    const groupnames = groupEntries
      .map(entry => values(entry, 'cn')[0])
      .filter(name => GROUPNAME.test(name));
    const groupsByDn = new Map(
      groupnames.map(name => [directory.groupDn(name).toLowerCase(), name]),
    );
    const agreementEntries = await directory.search(
      agreements,
      '(&(objectClass=fasAgreement)(ipaEnabledFlag=TRUE))',
      ['memberUser'],
    );
    const signatures = new Map<string, number>();
    for (const entry of agreementEntries) {
      for (const dn of values(entry, 'memberUser').map(lowerCase)) {
        signatures.set(dn, (signatures.get(dn) ?? 0) + 1);
      }
    }
    const userEntries = await directory.search(
      users,
      '(objectClass=fasUser)',
      ATTRIBUTES,
    );
    const people = userEntries.map(entry => ({
      username: values(entry, 'uid')[0],
      emails: values(entry, 'mail'),
      groups: new Set(
        values(entry, 'memberOf')
          .map(dn => groupsByDn.get(dn.toLowerCase()))
          .filter(name => name !== undefined),
      ),
      agreements: signatures.get(entry.dn.toLowerCase()) ?? 0,
      locked: values(entry, 'nsAccountLock')[0] === 'TRUE',
      expires: values(entry, 'krbPrincipalExpiration').length > 0,
      isPrivate: values(entry, 'fasIsPrivate')[0] === 'TRUE',
      hasGithub: values(entry, 'fasGitHubUsername').length > 0,
    }));
    return new People(
      people.filter(({ username }) => isServed(username)),
      groupnames,
    );
  }

  /** Returns the user with a name in the directory's spelling. */
  byName(username: string): Person {
    return this.#byName.get(username)!;
  }

  get largestGroup(): Group {
    return this.groupOfSize(Infinity);
  }

  /** Returns the group whose number of members is closest to a given size. */
  groupOfSize(size: number): Group {
    const target = Math.min(size, this.all.length);
    const distance = ({ members }: Group) => Math.abs(members.length - target);
    return this.groups.reduce((best, group) =>
      distance(group) < distance(best) ? group : best,
    );
  }
}

/** Returns whether the API serves a user of this name. */
export function isServed(username: string): boolean {
  return USERNAME.test(username);
}

function values(entry: Entry, attribute: string): readonly string[] {
  return [entry[attribute] ?? []].flat().map(String);
}

function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) {
    list.push(item);
  } else {
    lists.set(key, [item]);
  }
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}

function compare(a: string, b: string): number {
  return (
    Number(lowerCase(a) > lowerCase(b)) - Number(lowerCase(a) < lowerCase(b))
  );
}
