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
import type { DirectoryGroup, DirectoryUser, EntryKey } from './entities';

const PAGE_SIZE = 1000;

const USER_FIELDS = 'username,human_name,emails,locked';
const GROUP_FIELDS = 'groupname,description';

/** Timeout of a request, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** Maximum number of concurrent requests. */
const CONCURRENCY = 4;

/** A group and its direct members; no members if there are too many. */
export interface ReadGroup {
  readonly group: DirectoryGroup;
  readonly members: readonly string[];
}

/** Part of the change log. */
interface ReadChanges {
  /** Users and groups to read again. */
  readonly keys: ReadonlySet<EntryKey>;
  /** Position after these changes. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

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

  /** Reads all groups. */
  async readGroups(signal: AbortSignal): Promise<readonly ReadGroup[]> {
    const { client, request } = await this.#connect(signal);
    const records = await collect(
      paginate(page =>
        client.get('/groups/', request(GROUP_FIELDS, { query: pageOf(page) })),
      ),
    );
    const groups: ReadGroup[] = [];
    await eachOf(records, async record => {
      const group = await existing(() => this.#readMembers(record, signal));
      if (group) {
        groups.push(group);
      }
    });
    return groups;
  }

  /**
   * Reads all users.
   *
   * @param groupsOf - returns the groups of which a user is a direct member
   */
  async *readUsers(
    groupsOf: (username: string) => readonly string[],
    signal: AbortSignal,
  ): AsyncGenerator<DirectoryUser> {
    const { client, request } = await this.#connect(signal);
    const listed = paginate(page =>
      client.get('/users/', request(USER_FIELDS, { query: pageOf(page) })),
    );
    for await (const record of listed) {
      yield userOf(record, groupsOf(record.username!));
    }
  }

  /** Reads a user; `undefined` if no user has exactly this name. */
  async readUser(
    username: string,
    signal: AbortSignal,
  ): Promise<DirectoryUser | undefined> {
    const { client, request } = await this.#connect(signal);
    const path = { username };
    return existing(async () => {
      const { data } = await client.get(
        '/users/{username}/',
        request(USER_FIELDS, { path }),
      );
      if (data.result.username !== username) {
        return undefined;
      }
      if (data.result.locked) {
        // As in the lists of members.
        return userOf(data.result, []);
      }
      const memberships = await collect(
        paginate(page =>
          client.get(
            '/users/{username}/memberships/',
            request('groupname,direct', { path, query: pageOf(page) }),
          ),
        ),
      );
      const groups = memberships.filter(({ direct }) => direct);
      return userOf(
        data.result,
        groups.map(({ groupname }) => groupname!),
      );
    });
  }

  /** Reads a group; `undefined` if no group has exactly this name. */
  async readGroup(
    groupname: string,
    signal: AbortSignal,
  ): Promise<ReadGroup | undefined> {
    const { client, request } = await this.#connect(signal);
    return existing(async () => {
      const { data } = await client.get(
        '/groups/{groupname}/',
        request(GROUP_FIELDS, { path: { groupname } }),
      );
      return data.result.groupname === groupname
        ? this.#readMembers(data.result, signal)
        : undefined;
    });
  }

  /**
   * Reads the changes after a cursor.
   *
   * @param cursor - Default: the end of the log, without changes.
   * @throws CursorExpiredError when everything must be read again.
   */
  async readChanges(
    cursor: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadChanges> {
    const { client, request } = await this.#connect(signal);
    try {
      const { data } = await client.get(
        '/changes/',
        request(undefined, { query: { cursor } }),
      );
      const keys = new Set(data.result.flatMap(keysOf));
      return { keys, cursor: data.cursor, hasMore: data.has_more };
    } catch (error) {
      const status = isDirectoryResponseError(error) ? error.status : undefined;
      throw cursor !== undefined && (status === 400 || status === 410)
        ? new CursorExpiredError()
        : error;
    }
  }

  async #readMembers(
    { groupname: name, description }: GroupRecord,
    signal: AbortSignal,
  ): Promise<ReadGroup> {
    const { client, request } = await this.#connect(signal);
    const groupname = name!;
    const path = { groupname };
    const memberGroups = await collect(
      paginate(page =>
        client.get(
          '/groups/{groupname}/member-groups/',
          request('groupname', { path, query: pageOf(page) }),
        ),
      ),
    );
    const listed = paginate(page => {
      const query = { membership: 'direct' as const, ...pageOf(page) };
      return client.get(
        '/groups/{groupname}/members/',
        request('username', { path, query }),
      );
    });
    const maxMembers = isGroupOfAllUsers(groupname) ? -1 : this.#maxMembers;
    const members = await collect(listed, maxMembers + 1);
    const isLarge = members.length > maxMembers;
    return {
      group: {
        groupname,
        description: description ?? undefined,
        memberGroups: memberGroups.map(each => each.groupname!).sort(),
        isLarge,
      },
      members: isLarge ? [] : members.map(({ username }) => username!),
    };
  }

  async #connect(signal: AbortSignal) {
    const { token } = await this.#auth.getPluginRequestToken({
      onBehalfOf: await this.#auth.getOwnServiceCredentials(),
      targetPluginId: 'directory',
    });
    const baseUrl = `${await this.#discovery.getBaseUrl('directory')}/v1`;
    return {
      client: createDirectoryClient({ baseUrl }),
      request: <Params>(fields: string | undefined, params: Params) => ({
        params,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(fields !== undefined && { 'X-Fields': fields }),
        },
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      }),
    };
  }
}

function pageOf({ page_number }: { readonly page_number: number }) {
  return { page_number, page_size: PAGE_SIZE };
}

/** Reads a list, up to a number of items. */
async function collect<T>(
  listed: AsyncIterable<T>,
  limit = Infinity,
): Promise<readonly T[]> {
  const items: T[] = [];
  if (limit > 0) {
    for await (const item of listed) {
      if (items.push(item) >= limit) {
        break;
      }
    }
  }
  return items;
}

interface GroupRecord {
  readonly groupname?: string | null;
  readonly description?: string | null;
}

function userOf(
  record: {
    readonly username?: string | null;
    readonly human_name?: string | null;
    readonly emails?: readonly string[] | null;
  },
  groups: readonly string[],
): DirectoryUser {
  return {
    username: record.username!,
    humanName: record.human_name ?? undefined,
    email: record.emails?.[0],
    groups: [...groups].sort(),
  };
}

/**
 * Returns the users and groups that a change names, whatever its kind. A member
 * group itself does not change.
 */
function keysOf(change: {
  readonly username?: string;
  readonly old_username?: string;
  readonly groupname?: string;
  readonly old_groupname?: string;
}): readonly EntryKey[] {
  const { username, old_username, groupname, old_groupname } = change;
  return [
    ...[username, old_username].map(name => name && `user:${name}`),
    ...[groupname, old_groupname].map(name => name && `group:${name}`),
  ].filter(key => key !== undefined) as EntryKey[];
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
