import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { CredentialKind } from './Credentials';
import type { LoadRequest } from './load';
import type { Portal } from './Portal';

/** A kind of request: a row of the table for each credential. */
export interface Row {
  readonly name: string;
  /** Share in the mixed load. */
  readonly mixed?: 'read' | 'search' | 'page';
  readonly credentials: readonly CredentialKind[];
  /** Minimum ratio of the rate to that of the bare route. */
  readonly goal?: number;
  /** Returns a request with random parameters, without credentials. */
  readonly request: (caller: string) => LoadRequest;
}

/** Names of the realm: parameters of the requests. */
export interface Names {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** Users who can send requests, and have a public profile. */
  readonly callers: readonly string[];
}

const API = '/api/directory/v1';
/** The group of most users. */
const LARGEST_GROUP = 'contributors';
/** The account of eve has expired; alice is the guest. */
const NO_CALLERS = ['alice', 'eve'];
const PAGE_SIZE = 40;
const ALL: readonly CredentialKind[] = [
  'session cookie',
  'SPNEGO token',
  'portal token',
];
const DIRECT: readonly CredentialKind[] = ['session cookie', 'SPNEGO token'];

/** For the titles of the rows. */
export const NO_NAMES: Names = { users: [], groups: [], callers: [] };

/** Returns an item at random. */
export function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)];
}

/** Reads the names of all users and groups. */
export async function readNames(portal: Portal): Promise<Names> {
  const users = await readAll(portal, 'users');
  const groups = await readAll(portal, 'groups');
  return {
    users: users.map(({ username }) => username),
    groups: groups.map(({ groupname }) => groupname),
    callers: users
      .filter(user => !user.locked && !user.is_private)
      .map(({ username }) => username)
      .filter(username => !NO_CALLERS.includes(username)),
  };
}

async function readAll(portal: Portal, list: 'users' | 'groups') {
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

/** All rows. The goals are 60 % for an entry, and 35 % for a page. */
export function rowsFor({ users, groups }: Names): readonly Row[] {
  return [
    {
      name: '/users/{u}/',
      mixed: 'read',
      credentials: ALL,
      goal: 0.6,
      request() {
        const username = pick(users);
        return {
          path: `${API}/users/${username}/`,
          expected: `"username":"${username}"`,
        };
      },
    },
    {
      name: '/me/',
      mixed: 'read',
      credentials: DIRECT,
      goal: 0.6,
      request: username => ({
        path: `${API}/me/`,
        expected: `"username":"${username}"`,
      }),
    },
    {
      name: '/groups/{g}/is-member/{u}',
      mixed: 'read',
      credentials: DIRECT,
      goal: 0.6,
      request: () => ({
        path: `${API}/groups/${encodeURIComponent(pick(groups))}/is-member/${pick(users)}`,
        expected: '{"result":',
      }),
    },
    {
      name: '/users/ any page',
      mixed: 'page',
      credentials: ALL,
      goal: 0.35,
      request: () => anyPage(`${API}/users/`, users.length),
    },
    {
      name: '/groups/{g}/members/ of the largest',
      mixed: 'page',
      credentials: DIRECT,
      goal: 0.35,
      request: () =>
        anyPage(`${API}/groups/${LARGEST_GROUP}/members/`, 0.8 * users.length),
    },
    {
      name: '/search/users/ username=abc',
      mixed: 'search',
      credentials: DIRECT,
      goal: 0.35,
      request: () => ({
        path: `${API}/search/users/?username=${encodeURIComponent(pick(users).slice(0, 3))}`,
        expected: '"username":',
      }),
    },
    {
      name: 'POST /certs/ P-256',
      credentials: ['SPNEGO token', 'portal token'],
      request: certificateRequest,
    },
    {
      name: 'sign-in to the portal',
      credentials: ['SPNEGO token'],
      request: username => ({
        path: '/api/auth/kerberos/refresh',
        headers: { 'x-requested-with': 'XMLHttpRequest' },
        expected: `"user:default/${username}"`,
      }),
    },
  ];
}

function anyPage(path: string, total: number): LoadRequest {
  const number = 1 + Math.floor((Math.random() * total) / PAGE_SIZE);
  return {
    path: `${path}?page_size=${PAGE_SIZE}&page_number=${number}`,
    expected: '"result":[{',
  };
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
    expected: '"serial_number":',
  };
}
