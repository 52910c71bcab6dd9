import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { CredentialKind } from './credentials';
import type { LoadRequest } from './load';
import type { MeasuredPortal } from './MeasuredPortal';

/** A kind of request: a row of the table for each credential. */
export interface BenchmarkRow {
  readonly name: string;
  /** Percentage of the mixed load. */
  readonly share?: number;
  /** Default: session cookie and SPNEGO token. */
  readonly credentials?: readonly CredentialKind[];
  /** Minimum ratio of the rate to that of the bare route. */
  readonly goal?: number;
  /** Returns a request with random parameters, without credentials. */
  readonly request: (caller: string) => LoadRequest;
}

/** Names of the realm: parameters of the requests. */
export interface Names {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** Users who can send requests and sign in to the portal. */
  readonly callers: readonly string[];
}

/** Path of the API below the portal's URL. */
export const API = '/api/directory/v1';
/** The group of most users. */
const LARGEST_GROUP = 'contributors';
/**
 * User names that are valid for the catalog, so that the users can sign in to
 * the portal. Excluded are the guest alice, eve, whose account has expired, and
 * users of the mixed load of another portal.
 */
const CALLER = /^(?!(alice|eve)$|bench-)[a-z0-9]+([-_.][a-z0-9]+)*$/;
const PAGE_SIZE = 40;
/** Returns an item at random. */
export function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)];
}

/** Reads the names of all users and groups. */
export async function readNames(portal: MeasuredPortal): Promise<Names> {
  const users = await readAll(portal, 'users');
  const groups = await readAll(portal, 'groups');
  return {
    users: users.map(({ username }) => username),
    groups: groups.map(({ groupname }) => groupname),
    callers: users
      .filter(user => !user.locked && !user.is_private)
      .map(({ username }) => username)
      .filter(username => CALLER.test(username)),
  };
}

async function readAll(portal: MeasuredPortal, list: 'users' | 'groups') {
  const all = [];
  for (let page = 1, total = Infinity; all.length < total; page++) {
    const path = `${API}/${list}/?page_size=1000&page_number=${page}`;
    const { text } = await portal.get(path);
    const { result, total_results } = JSON.parse(text);
    all.push(...result);
    total = total_results;
  }
  return all;
}

/**
 * All rows. The goals are 60 % for an entry, and 35 % for a page; the mixed load
 * has 70 % reads of entries, 20 % searches and 10 % pages.
 */
export function rowsFor({ users, groups }: Names): readonly BenchmarkRow[] {
  return [
    {
      name: '/users/{u}/',
      share: 30,
      goal: 0.6,
      request: () => get(`/users/${pick(users)}/`),
    },
    {
      name: '/me/',
      share: 10,
      goal: 0.6,
      request: () => get('/me/'),
    },
    {
      name: '/groups/{g}/is-member/{u}',
      share: 30,
      goal: 0.6,
      request() {
        const group = encodeURIComponent(pick(groups));
        return get(`/groups/${group}/is-member/${pick(users)}`);
      },
    },
    {
      name: '/users/ any page',
      share: 5,
      goal: 0.35,
      request: () => getPage('/users/', users.length),
    },
    {
      name: '/groups/{g}/members/ of the largest',
      share: 5,
      goal: 0.35,
      request: () =>
        getPage(`/groups/${LARGEST_GROUP}/members/`, 0.8 * users.length),
    },
    {
      name: '/search/users/ username=abc',
      share: 20,
      goal: 0.35,
      request() {
        // A search needs three characters.
        const start = pick(users).slice(0, 3).padEnd(3, 'a');
        return get(`/search/users/?username=${encodeURIComponent(start)}`);
      },
    },
    {
      name: 'POST /certs/ P-256',
      credentials: ['SPNEGO token'],
      request: certificateRequest,
    },
    {
      name: 'sign-in to the portal',
      credentials: ['SPNEGO token'],
      request: () => ({
        path: '/api/auth/kerberos/refresh',
        headers: { 'x-requested-with': 'XMLHttpRequest' },
      }),
    },
  ];
}

function get(path: string): LoadRequest {
  return { path: `${API}${path}` };
}

/** @param total - number of results on all pages */
function getPage(path: string, total: number): LoadRequest {
  const number = 1 + Math.floor((Math.random() * total) / PAGE_SIZE);
  return get(`${path}?page_size=${PAGE_SIZE}&page_number=${number}`);
}

/** Each CSR has its own key: a CA may return a certificate again. */
function certificateRequest(username: string): LoadRequest {
  const { csr } = createSigningRequest({
    username,
    principal: username,
    profile: 'userCerts',
  });
  const form = { user: username, csr: csr.toString('base64') };
  return {
    method: 'POST',
    path: `${API}/certs/`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(form)),
  };
}
