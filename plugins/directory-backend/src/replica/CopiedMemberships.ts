import type { Directory } from '../directory/Directory';
import { groupWith, pageOf, userWith, type CopiedRows } from './CopiedRows';
import { inAll } from './rankSets';
import { streamRows } from './streamRows';

type Method<Name extends keyof Directory> = Directory[Name];

/** Answers about who is in which group, and who sponsors it. */
export class CopiedMemberships {
  readonly #rows: CopiedRows;

  constructor(rows: CopiedRows) {
    this.#rows = rows;
  }

  listGroupMembers: Method<'listGroupMembers'> = async query => {
    const group = this.#rows.group(query);
    if (!group) {
      return undefined;
    }
    const members = this.#rows.members.unlocked(group.key, query.membership);
    const { terms, visibleTo } = query;
    return this.#rows.userPage(
      terms?.length
        ? inAll([members, this.#rows.find({ terms, visibleTo })])
        : members,
      query,
    );
  };

  streamGroupMembers: Method<'streamGroupMembers'> = async (
    query,
    { signal },
  ) => {
    const group = this.#rows.group(query);
    return (
      group &&
      streamRows(this.#rows.users(this.#rows.members.unlocked(group.key)), {
        present: userWith(query),
        signal,
      })
    );
  };

  listGroupSponsors: Method<'listGroupSponsors'> = async query => {
    const group = this.#rows.group(query);
    if (!group) {
      return undefined;
    }
    const { groups, users } = this.#rows.tables;
    const sponsors = new Set(groups.get(group.key)?.sponsors);
    for (const sponsor of [...sponsors]) {
      for (const member of groups.graph.membersOf(sponsor)) {
        sponsors.add(member);
      }
    }
    const ranks = users.unlockedAmong(users.served.ranksOf(sponsors));
    return this.#rows.users(ranks).map(userWith(query));
  };

  isMember: Method<'isMember'> = async query => {
    const group = this.#rows.group(query);
    const user = this.#rows.user({ ...query, unlockedOnly: true });
    return (
      group &&
      user !== undefined &&
      this.#rows.tables.groups.graph.groupsOf(user.key).has(group.key)
    );
  };

  listUserGroups: Method<'listUserGroups'> = async query => {
    const user = this.#rows.user(query);
    return (
      user &&
      pageOf(
        this.#rows.groupsAmong(
          this.#rows.tables.groups.graph.groupsOf(user.key),
        ),
        query,
        groupWith(query),
      )
    );
  };

  listUserMemberships: Method<'listUserMemberships'> = async query => {
    const user = this.#rows.user(query);
    if (!user) {
      return undefined;
    }
    const { graph, served } = this.#rows.tables.groups;
    const chains = graph.chainsFrom(user.key);
    const sponsored = graph.sponsoredBy([user.key, ...chains.keys()]);
    return pageOf(this.#rows.groupsAmong(chains.keys()), query, row => {
      const chain = chains.get(row.key)!;
      return {
        group: groupWith(query)(row),
        direct: chain.length === 1,
        sponsor: sponsored.has(row.key),
        path: chain.map(step => served.get(step)?.name),
      };
    });
  };

  listSponsoredGroups: Method<'listSponsoredGroups'> = async query => {
    const user = this.#rows.user(query);
    const { graph } = this.#rows.tables.groups;
    return (
      user &&
      pageOf(
        this.#rows.groupsAmong(
          graph.sponsoredBy([user.key, ...graph.groupsOf(user.key)]),
        ),
        query,
        groupWith(query),
      )
    );
  };
}
