import type {
  MembershipReason,
  User,
  UserSelection,
} from '@directory-gateway/directory-core';
import { type Call, type Operation, operation } from '../api/Operation';
import {
  type MembershipSelection,
  parseMembershipSelection,
} from '../request/parseGroupSearch';
import { parsePage, WHOLE_LIST } from '../request/parsePage';
import { groupNotFound } from '../../apiErrors';
import type { RecordModel } from '../response/fieldMask';
import {
  presentUser,
  userFieldsFor,
  userModel,
} from '../response/presentRecords';
import { type HistoryOptions, joinTimesOf } from './history';
import { found } from './lists';

const REASON = ['direct', 'sponsor', 'path'];

/** Time of joining; returned only if the mask names it. */
const JOINED = 'joined';

/** Reason for a user who has left the group since the list was read. */
const LEFT: MembershipReason = {
  direct: false,
  sponsor: false,
  path: [undefined],
};

const NO_FIELDS: ReadonlySet<never> = new Set();

/** The keys of a membership: those of the user, the reason and the time. */
export const groupMembershipModel: RecordModel = {
  keys: [...userModel.keys, ...REASON],
  lists: new Set([...userModel.lists, 'path']),
  defaults: ['username', ...REASON, 'uri'],
  onlyByName: [JOINED],
};

/** An extension: the members of a group with the reasons. */
export function membershipsOperation(options: HistoryOptions): Operation {
  const { directory, dialect } = options;
  return operation({
    id: 'list_group_memberships',
    path: '/groups/:groupname/memberships/',
    model: groupMembershipModel,
    parse: ({ query }, errors) => ({
      selected: parseMembershipSelection(query, errors),
      page: parsePage(query, errors),
    }),
    async handle(call, { input: { selected, page }, keys }) {
      const { selection, presentAll } = await selectMemberships(options, {
        call,
        selected,
        keys,
      });
      const { items, total } = found(
        await directory.listUsers({ ...selection, page }, call.context),
        () => groupNotFound(call.params.groupname),
      );
      return dialect.presentPage(
        { items: await presentAll(items), total },
        { page, call },
      );
    },
  });
}

/**
 * Returns a selection of members, and a function that presents some of them
 * with one query.
 */
export async function selectMemberships(
  options: HistoryOptions,
  query: {
    readonly call: Call;
    readonly selected: MembershipSelection;
    readonly keys: readonly string[];
  },
): Promise<{
  readonly selection: UserSelection;
  readonly presentAll: (
    users: readonly User[],
  ) => Promise<Record<string, unknown>[]>;
}> {
  const { directory, dialect } = options;
  const { call, selected, keys } = query;
  const { membership, where, sort } = selected;
  const { groupname } = call.params;
  const readJoined =
    keys.includes(JOINED) || sort?.key === JOINED
      ? await joinTimesOf(options, call)
      : undefined;
  const allJoined = sort?.key === JOINED ? await readJoined?.() : undefined;
  const hasReason = REASON.some(key => keys.includes(key));

  const reasonsOf = (users: readonly User[]) =>
    directory.membershipReasons(
      { groupname, usernames: users.map(({ username }) => username) },
      call.context,
    );

  return {
    selection: {
      from: { kind: 'membersOf', groupname, membership },
      where,
      order: sort && {
        kind: 'byValue',
        descending: sort.descending,
        ...(await valueOf(sort.key)),
      },
      fields: userFieldsFor(keys),
    },
    async presentAll(users) {
      const reasons = hasReason ? await reasonsOf(users) : undefined;
      const joined =
        allJoined ??
        (await readJoined?.(users.map(({ username }) => username)));
      return users.map(user => {
        const { direct, sponsor, path } = reasons?.get(user.username) ?? LEFT;
        return presentUser(user, keys, dialect.uris, {
          direct,
          sponsor,
          path: path.map(group => group ?? null),
          [JOINED]: joined?.get(user.username)?.toISOString() ?? null,
        });
      });
    },
  };

  /** Returns the value by which users are sorted. */
  async function valueOf(
    key: NonNullable<typeof sort>['key'],
  ): Promise<Pick<ByValue, 'field' | 'valueOf'>> {
    switch (key) {
      case 'direct':
        return membership === 'locked'
          ? amongLocked()
          : among({ kind: 'membersOf', groupname, membership: 'direct' });
      case 'sponsor':
        return among({ kind: 'sponsorsOf', groupname });
      case 'joined':
        return {
          field: 'username',
          valueOf: ({ username }) => allJoined?.get(username)?.getTime(),
        };
      case 'timezone': {
        const offsetOf = currentOffsets();
        return {
          field: 'timezone',
          valueOf: ({ timezone }) =>
            timezone === undefined ? undefined : offsetOf(timezone),
        };
      }
      default:
        return {
          field: key,
          valueOf: ({ [key]: name }) => name?.normalize('NFD').toLowerCase(),
        };
    }
  }

  /** Sorts direct members first among locked accounts. */
  async function amongLocked(): Promise<Pick<ByValue, 'field' | 'valueOf'>> {
    const locked = await directory.listUsers(
      {
        from: { kind: 'membersOf', groupname, membership },
        page: WHOLE_LIST,
        fields: NO_FIELDS,
      },
      call.context,
    );
    const reasons = await reasonsOf(locked?.items ?? []);
    return {
      field: 'username',
      valueOf: ({ username }) => (reasons.get(username)?.direct ? 0 : 1),
    };
  }

  /** Sorts the users of a list first. */
  async function among(
    from: UserSelection['from'],
  ): Promise<Pick<ByValue, 'field' | 'valueOf'>> {
    const users = await directory.listUsers(
      { from, page: WHOLE_LIST, fields: NO_FIELDS },
      call.context,
    );
    const names = new Set(users?.items.map(({ username }) => username));
    return {
      field: 'username',
      valueOf: ({ username }) => (names.has(username) ? 0 : 1),
    };
  }
}

type ByValue = Extract<UserSelection['order'], { readonly kind: 'byValue' }>;

/**
 * Returns a function for the current offset of a time zone from UTC in minutes;
 * `undefined` for an unknown zone, because the directory accepts any text.
 */
function currentOffsets(): (timeZone: string) => number | undefined {
  const now = new Date();
  const known = new Map<string, number | undefined>();
  const read = (timeZone: string) => {
    try {
      const name = now.toLocaleString('en-US', {
        timeZone,
        timeZoneName: 'longOffset', // GMT+05:30
      });
      const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(name) ?? [];
      return sign
        ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes))
        : 0;
    } catch {
      return undefined;
    }
  };
  return timeZone => {
    if (!known.has(timeZone)) {
      known.set(timeZone, read(timeZone));
    }
    return known.get(timeZone);
  };
}
