import type { Entry } from 'ldapts';
import type { Mode } from '../credentials/credentials';
import type { DirectoryClient } from '../DirectoryClient';
import type { SeededRandom } from '../SeededRandom';

/** A request with random parameters. */
export interface ScenarioRequest {
  /** Path below the base path of the load generator. */
  readonly path: string;
  /** URL-encoded body of a POST request. Default: a GET request. */
  readonly form?: string;
  /** Strings that the body of a correct response contains. */
  readonly expected: readonly string[];
  /** The equivalent query to the directory server, if it has the data. */
  readonly ldap?: LdapQuery;
}

/** The smallest set of LDAP operations that returns the data of a response. */
interface LdapQuery {
  /** Returns the result of the last operation. */
  readonly query: (directory: DirectoryClient) => Promise<readonly Entry[]>;
  /** Number of entries in a correct result. */
  readonly entries: number;
}

/** A kind of request, which is a row of the table. */
export interface Scenario {
  readonly name: string;
  readonly goals?: Readonly<Partial<Record<Mode, Goal>>>;
  /** Modes that are measured. Default: `negotiate`. */
  readonly modes?: readonly Mode[];
  /** Prepares the data that the callers need for a number of requests. */
  prepare?(need: {
    readonly usernames: readonly string[];
    readonly count: number;
  }): Promise<void>;
  /** Returns the next request from a caller. */
  next(random: SeededRandom, username: string): ScenarioRequest;
}

/** Goal of a row. */
interface Goal {
  /** Minimum rate as a share of the rate of the bare route. */
  readonly ratio?: number;
  /** Maximum median latency on one connection, with 20,000 users. */
  readonly p50Ms?: number;
}

/** Goals of requests about one entry. */
export const entryGoals: Scenario['goals'] = {
  session: { ratio: 0.6, p50Ms: 1 },
  negotiate: { ratio: 0.6 },
};

/** Goals of a page of 40 entries. */
export const pageGoals: Scenario['goals'] = {
  session: { ratio: 0.35, p50Ms: 2 },
  negotiate: { ratio: 0.35, p50Ms: 2 },
};

/** Page size: the default of the API, and the maximum for searches. */
export const PAGE_SIZE = 40;

export const IS_USER = '(objectClass=fasUser)';

/** Attributes of a complete user record. */
export const USER_ATTRIBUTES: readonly string[] = [
  'uid',
  'sn',
  'givenName',
  'displayName',
  'mail',
  'fasIRCNick',
  'fasLocale',
  'fasTimeZone',
  'fasGPGKeyId',
  'ipaSshPubKey',
  'userCertificate;binary',
  'fasCreationTime',
  'fasIsPrivate',
  'nsAccountLock',
  'fasGitHubUsername',
  'fasGitLabUsername',
  'fasPronoun',
  'fasRHBZEmail',
  'fasWebsiteURL',
  'fasRssUrl',
];

/** Selects a random page of an ordered list of user names. */
export function randomPage(
  random: SeededRandom,
  usernames: readonly string[],
): {
  readonly number: number;
  readonly names: readonly string[];
  /**
   * Returns the expected total number, and the first and the last user of the
   * page.
   */
  readonly expected: readonly string[];
} {
  const pages = Math.max(1, Math.ceil(usernames.length / PAGE_SIZE));
  const number = 1 + random.below(pages);
  const names = usernames.slice((number - 1) * PAGE_SIZE, number * PAGE_SIZE);
  const expected = [`"total_results":${usernames.length}`];
  if (names.length > 0) {
    expected.push(`"username":"${names[0]}"`, `"username":"${names.at(-1)}"`);
  }
  return { number, names, expected };
}

/** Reads the users of a page with one search. */
export async function readPage(
  directory: DirectoryClient,
  names: readonly string[],
): Promise<readonly Entry[]> {
  return names.length === 0
    ? []
    : directory.search(
        directory.users,
        `(&${IS_USER}${anyOf('uid', names)})`,
        USER_ATTRIBUTES,
      );
}

/**
 * Returns a filter for entries with one of the values, which need no escaping.
 */
export function anyOf(attribute: string, values: readonly string[]): string {
  return `(|${values.map(value => `(${attribute}=${value})`).join('')})`;
}
