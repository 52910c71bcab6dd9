import type {
  AuthService,
  DiscoveryService,
} from '@backstage/backend-plugin-api';
import {
  createDirectoryClient,
  isDirectoryResponseError,
  isGroupOfAllUsers,
  paginate,
} from '@directory-gateway/backstage-plugin-directory-common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DirectoryGroup, DirectoryUser } from './entities';

const PAGE_SIZE = 1000;

const USER_FIELDS = 'username,human_name,emails,locked';

/** Timeout of a request, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** Interval at which changes are read, in milliseconds. */
const POLL_INTERVAL_MS = 500;

/** Maximum number of concurrent requests. */
const CONCURRENCY = 4;

/** All users and groups. */
export interface Directory {
  readonly users: ReadonlyMap<string, DirectoryUser>;
  readonly groups: ReadonlyMap<string, DirectoryGroup>;
}

/** Changes in the directory, as names of users and groups to read again. */
export interface ChangedNames {
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  /** Groups whose members have changed. */
  readonly membersOf: ReadonlySet<string>;
  readonly cursor: string;
}

/** Position from which to follow changes. */
export type PresentCursor =
  | { readonly cursor: string }
  | {
      readonly cursor: undefined;
      /** Whether the change log is configured but temporarily unavailable. */
      readonly isTemporary: boolean;
    };

/** The changes after a cursor are no longer retained. */
export class CursorExpiredError extends Error {}

/**
 * Reads the directory through its API with the catalog plugin's service
 * credentials, and therefore sees only what every reader may see. Rejects if
 * any request fails: results are never incomplete.
 */
export class DirectoryReader {
  readonly #auth: AuthService;
  readonly #discovery: DiscoveryService;
  readonly #maxMembers: number;

  constructor(options: {
    readonly auth: AuthService;
    readonly discovery: DiscoveryService;
    /** Maximum number of direct members of a group with relations. */
    readonly maxMembers: number;
  }) {
    this.#auth = options.auth;
    this.#discovery = options.discovery;
    this.#maxMembers = options.maxMembers;
  }

  /** Reads all users and groups. */
  async readAll(signal: AbortSignal): Promise<Directory> {
    const { client, headers } = await this.#connect();
    const groupsByUser = new Map<string, string[]>();
    const groups = new Map<string, DirectoryGroup>();
    const names: string[] = [];
    const listed = paginate(({ page_number }) =>
      client.get('/groups/', {
        params: { query: { page_number, page_size: PAGE_SIZE } },
        headers: { ...headers, 'X-Fields': 'groupname' },
        signal: within(signal),
      }),
    );
    for await (const { groupname } of listed) {
      names.push(groupname!);
    }
    await eachOf(names, async name => {
      const members = await this.#membersOf(name, signal);
      const isLarge = members === undefined;
      const group = await this.readGroup(name, { signal, isLarge });
      if (group) {
        groups.set(name, group);
        for (const member of members ?? []) {
          const known = groupsByUser.get(member);
          if (known) {
            known.push(name);
          } else {
            groupsByUser.set(member, [name]);
          }
        }
      }
    });
    const users = new Map<string, DirectoryUser>();
    const people = paginate(({ page_number }) =>
      client.get('/users/', {
        params: { query: { page_number, page_size: PAGE_SIZE } },
        headers: { ...headers, 'X-Fields': USER_FIELDS },
        signal: within(signal),
      }),
    );
    for await (const user of people) {
      const { username } = user;
      users.set(
        username!,
        userOf(user, groupsByUser.get(username!)?.sort() ?? []),
      );
    }
    return { users, groups };
  }

  /**
   * Reads a user; `undefined` if there is none.
   *
   * @param options - `largeGroups`: groups to omit
   */
  async readUser(
    username: string,
    options: {
      readonly signal: AbortSignal;
      readonly largeGroups: ReadonlySet<string>;
    },
  ): Promise<DirectoryUser | undefined> {
    const signal = within(options.signal);
    const { client, headers } = await this.#connect();
    return existing(async () => {
      const { data } = await client.get('/users/{username}/', {
        params: { path: { username } },
        headers: { ...headers, 'X-Fields': USER_FIELDS },
        signal,
      });
      const groups: string[] = [];
      if (!data.result.locked) {
        const memberships = paginate(({ page_number }) =>
          client.get('/users/{username}/memberships/', {
            params: {
              path: { username },
              query: { page_number, page_size: PAGE_SIZE },
            },
            headers: { ...headers, 'X-Fields': 'groupname,direct' },
            signal,
          }),
        );
        for await (const { groupname, direct } of memberships) {
          if (
            direct &&
            !options.largeGroups.has(groupname!) &&
            !isGroupOfAllUsers(groupname!)
          ) {
            groups.push(groupname!);
          }
        }
      }
      return userOf(data.result, groups.sort());
    });
  }

  /**
   * Reads a group and its member groups; `undefined` if there is none.
   *
   * @param options - `isLarge`: whether the group is large, if known
   */
  async readGroup(
    groupname: string,
    options: {
      readonly signal: AbortSignal;
      readonly isLarge?: boolean;
    },
  ): Promise<DirectoryGroup | undefined> {
    const signal = within(options.signal);
    const { client, headers } = await this.#connect();
    return existing(async () => {
      const path = { groupname };
      const { data } = await client.get('/groups/{groupname}/', {
        params: { path },
        headers: { ...headers, 'X-Fields': 'groupname,description' },
        signal,
      });
      const memberGroups: string[] = [];
      const nested = paginate(({ page_number }) =>
        client.get('/groups/{groupname}/member-groups/', {
          params: { path, query: { page_number, page_size: PAGE_SIZE } },
          headers: { ...headers, 'X-Fields': 'groupname' },
          signal,
        }),
      );
      for await (const member of nested) {
        memberGroups.push(member.groupname!);
      }
      const { groupname: name, description } = data.result;
      return {
        groupname: name!,
        description: description ?? undefined,
        memberGroups: memberGroups.sort(),
        isLarge:
          options.isLarge ??
          (await this.#membersOf(groupname, signal)) === undefined,
      };
    });
  }

  /** Returns the current cursor. */
  async presentCursor(signal: AbortSignal): Promise<PresentCursor> {
    const { client, headers } = await this.#connect();
    try {
      const { data } = await client.get('/changes/', {
        headers,
        signal: within(signal),
      });
      return { cursor: data.cursor };
    } catch (error) {
      if (
        isDirectoryResponseError(error) &&
        [404, 503].includes(error.status)
      ) {
        return { cursor: undefined, isTemporary: error.status === 503 };
      }
      throw error;
    }
  }

  /**
   * Returns the changes after a cursor; pauses when there are none.
   *
   * @throws CursorExpiredError when everything must be read again
   */
  async changesAfter(
    cursor: string,
    options: { readonly waitSeconds: number; readonly signal: AbortSignal },
  ): Promise<ChangedNames> {
    const { client, headers } = await this.#connect();
    try {
      const { data } = await client.get('/changes/', {
        params: { query: { cursor } },
        headers,
        signal: within(options.signal),
      });
      if (data.result.length === 0 && !data.has_more) {
        const waitMs = Math.min(options.waitSeconds * 1000, POLL_INTERVAL_MS);
        await sleep(waitMs, undefined, { signal: options.signal });
      }
      return changedNames(data);
    } catch (error) {
      if (
        isDirectoryResponseError(error) &&
        [404, 410].includes(error.status)
      ) {
        throw new CursorExpiredError(error.message);
      }
      throw error;
    }
  }

  /**
   * Returns the direct members of a group; `undefined` if there are too many.
   */
  async #membersOf(
    groupname: string,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    if (isGroupOfAllUsers(groupname)) {
      return undefined;
    }
    const { client, headers } = await this.#connect();
    const members: string[] = [];
    const fetched = paginate(({ page_number }) =>
      client.get('/groups/{groupname}/members/', {
        params: {
          path: { groupname },
          query: { membership: 'direct', page_number, page_size: PAGE_SIZE },
        },
        headers: { ...headers, 'X-Fields': 'username' },
        signal: within(signal),
      }),
    );
    const found = await existing(async () => {
      for await (const { username } of fetched) {
        members.push(username!);
        if (members.length > this.#maxMembers) {
          return undefined;
        }
      }
      return members;
    });
    return found;
  }

  async #connect() {
    const { token } = await this.#auth.getPluginRequestToken({
      onBehalfOf: await this.#auth.getOwnServiceCredentials(),
      targetPluginId: 'directory',
    });
    return {
      client: createDirectoryClient({
        baseUrl: `${await this.#discovery.getBaseUrl('directory')}/v1`,
      }),
      headers: { Authorization: `Bearer ${token}` },
    };
  }
}

function userOf(
  record: {
    username?: string | null;
    human_name?: string | null;
    emails?: string[] | null;
  },
  groups: readonly string[],
): DirectoryUser {
  return {
    username: record.username!,
    humanName: record.human_name ?? undefined,
    email: record.emails?.[0],
    groups,
  };
}

function changedNames(page: {
  readonly cursor: string;
  readonly result: readonly {
    readonly kind: string;
    readonly username?: string;
    readonly old_username?: string;
    readonly groupname?: string;
    readonly old_groupname?: string;
    readonly member_groupname?: string;
  }[];
}): ChangedNames {
  const users = new Set<string>();
  const groups = new Set<string>();
  const membersOf = new Set<string>();
  for (const change of page.result) {
    for (const name of [change.username, change.old_username]) {
      if (name !== undefined) {
        users.add(name);
      }
    }
    const isMembership = /^members?_/.test(change.kind);
    for (const name of [change.groupname, change.old_groupname]) {
      if (name !== undefined) {
        (isMembership ? membersOf : groups).add(name);
      }
    }
  }
  return { users, groups, membersOf, cursor: page.cursor };
}

/**
 * Returns the result of requests; `undefined` if the user or group does not
 * exist.
 */
async function existing<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    const message = isDirectoryResponseError(error)
      ? error.body?.message
      : undefined;
    // Any other 404 does not concern the entry: the plugin is not installed.
    if (message === 'User not found' || message === 'Group not found') {
      return undefined;
    }
    throw error;
  }
}

function within(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
}

/** Calls a function for all items, with limited concurrency. */
export async function eachOf<T>(
  items: Iterable<T>,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const work = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      await run(next.value);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}
