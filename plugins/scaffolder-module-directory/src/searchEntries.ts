import {
  type DirectoryClient,
  isDirectoryResponseError,
  type MaskedGroup,
  type MaskedUser,
} from '@directory-gateway/backstage-plugin-directory-common';

/** Whether a field selects users or groups. */
export type PickedKind = 'user' | 'group';

/** A user or a group in the directory. */
export interface Entry {
  name: string;

  /** Full name of the user or description of the group. */
  description?: string;
}

/** Minimum length of a search text, in characters. */
export const MIN_SEARCH_LENGTH = 3;

const page_size = 20;

interface SearchOptions {
  /** Search text. If empty, the entries are the user's colleagues or groups. */
  text: string;
  signal: AbortSignal;
}

/**
 * Returns at most 20 users or groups that match a text. Without a text, returns
 * the user's colleagues or groups; none if the user does not have a directory
 * account.
 */
export async function searchEntries(
  client: DirectoryClient,
  options: SearchOptions & { kind: PickedKind },
): Promise<Entry[]> {
  const { kind, ...search } = options;
  try {
    return await (kind === 'user'
      ? searchUsers(client, search)
      : searchGroups(client, search));
  } catch (error) {
    const hasNoAccount =
      !search.text && isDirectoryResponseError(error) && error.status === 403;
    if (hasNoAccount) {
      return [];
    }
    throw error;
  }
}

async function searchUsers(
  client: DirectoryClient,
  { text, signal }: SearchOptions,
): Promise<Entry[]> {
  const header = { 'X-Fields': 'username,human_name' };
  const { data } = text
    ? await client.get('/search/users/', {
        params: { query: { q: text, page_size }, header },
        signal,
      })
    : await client.get('/me/colleagues/', {
        params: { query: { page_size }, header },
        signal,
      });
  const users: MaskedUser[] = data.result;
  return users.map(({ username = '', human_name }) => ({
    name: username,
    description: human_name ?? undefined,
  }));
}

async function searchGroups(
  client: DirectoryClient,
  { text, signal }: SearchOptions,
): Promise<Entry[]> {
  const header = { 'X-Fields': 'groupname,description' };
  const { data } = text
    ? await client.get('/search/groups/', {
        params: { query: { q: text, page_size }, header },
        signal,
      })
    : await client.get('/users/{username}/groups/', {
        params: {
          path: { username: await fetchUsername(client, signal) },
          query: { page_size },
          header,
        },
        signal,
      });
  const groups: MaskedGroup[] = data.result;
  return groups.map(({ groupname = '', description }) => ({
    name: groupname,
    description: description ?? undefined,
  }));
}

/** Returns the user name of the portal user in the directory. */
async function fetchUsername(client: DirectoryClient, signal: AbortSignal) {
  const { data } = await client.get('/me/', { signal });
  return data.result.username ?? '';
}
