import type { DirectoryWriter } from './DirectoryWriter';

/** A path whose answer shows that a write has been seen. */
export interface Look {
  /** Below the API's own. */
  readonly path: string;
  readonly status: 200 | 404;
  /** A text that the answer contains since then. */
  readonly shows: string;
}

/** A write, and where it shows. */
export interface ShownWrite {
  /** For example `lock`. */
  readonly kind: string;
  readonly write: (writer: DirectoryWriter) => Promise<unknown>;
  readonly looks: readonly Look[];
}

/** The group that the people of these writes join, and one that it is in. */
export const WRITTEN_GROUPS = { inner: 'bench-inner', outer: 'bench-outer' };

/** The life of a person, from the first day to the last. */
export function writesOf(name: string): readonly ShownWrite[] {
  const { inner, outer } = WRITTEN_GROUPS;
  const renamed = `${name}.renamed`;
  return [
    {
      kind: 'add',
      write: writer => writer.addUser(name),
      looks: [user(name, `"username":"${name}"`)],
    },
    {
      kind: 'join a group',
      write: writer => writer.addMember(inner, name),
      // The outer group is the directory's own change of the user's memberOf.
      looks: [isMember(outer, name, true), groupsOf(name, 2)],
    },
    {
      kind: 'lock',
      write: writer => writer.setUser(name, 'nsAccountLock', 'TRUE'),
      looks: [user(name, '"locked":true'), isMember(inner, name, false)],
    },
    {
      kind: 'unlock',
      write: writer => writer.setUser(name, 'nsAccountLock', 'FALSE'),
      looks: [user(name, '"locked":false'), isMember(inner, name, true)],
    },
    {
      kind: 'change',
      write: writer => writer.setUser(name, 'displayName', `${name} Changed`),
      looks: [
        user(name, `"human_name":"${name} Changed"`),
        {
          path: `/search/users/?human_name__exact=${name}%20Changed`,
          status: 200,
          shows: '"total_results":1',
        },
      ],
    },
    {
      kind: 'leave the group',
      write: writer => writer.removeMember(inner, name),
      looks: [isMember(outer, name, false), groupsOf(name, 0)],
    },
    {
      kind: 'rename',
      write: writer => writer.renameUser(name, renamed),
      looks: [user(renamed, `"username":"${renamed}"`), nobody(name)],
    },
    {
      kind: 'delete',
      write: writer => writer.deleteUser(renamed),
      looks: [nobody(renamed)],
    },
  ];
}

function user(username: string, shows: string): Look {
  return { path: `/users/${username}/`, status: 200, shows };
}

function nobody(username: string): Look {
  return {
    path: `/users/${username}/`,
    status: 404,
    shows: '"message":"User not found"',
  };
}

function isMember(group: string, username: string, result: boolean): Look {
  return {
    path: `/groups/${group}/is-member/${username}`,
    status: 200,
    shows: `{"result":${result}}`,
  };
}

function groupsOf(username: string, count: number): Look {
  return {
    path: `/users/${username}/groups/`,
    status: 200,
    shows: `"total_results":${count}`,
  };
}
