import type { Directory } from '../directory/Directory';
import { compareNames } from '../directory/names';
import { slicePage } from '../directory/Page';
import { pageOf, userWith, type CopiedRows } from './CopiedRows';
import { findColleagues } from './findColleagues';
import { streamRows } from './streamRows';

type Method<Name extends keyof Directory> = Directory[Name];

/** Answers about users. */
export class CopiedUsers {
  readonly #rows: CopiedRows;

  constructor(rows: CopiedRows) {
    this.#rows = rows;
  }

  getUser: Method<'getUser'> = async query => {
    const row = this.#rows.user(query);
    return row && userWith(query)(row);
  };

  listUsers: Method<'listUsers'> = async query => {
    const { inOrder } = this.#rows.tables.users.served;
    return query.unlockedOnly
      ? this.#rows.userPage(this.#rows.members.everyoneUnlocked(), query)
      : pageOf(inOrder, query, userWith(query));
  };

  streamUsers: Method<'streamUsers'> = async (query, { signal }) => {
    const { inOrder } = this.#rows.tables.users.served;
    const rows = query.unlockedOnly
      ? this.#rows.users(this.#rows.members.everyoneUnlocked())
      : inOrder;
    return streamRows(rows, { present: userWith(query), signal });
  };

  searchUsers: Method<'searchUsers'> = async query =>
    this.#rows.userPage(
      query.unlockedOnly
        ? this.#rows.tables.users.unlockedAmong(this.#rows.find(query))
        : this.#rows.find(query),
      query,
    );

  listUserAgreements: Method<'listUserAgreements'> = async query => {
    const user = this.#rows.user(query);
    if (!user) {
      return undefined;
    }
    const names = [...this.#rows.tables.agreements.values()]
      .filter(({ enabled, signers }) => enabled && signers.has(user.key))
      .map(({ name }) => name)
      .sort(compareNames);
    return { items: slicePage(names, query.page), total: names.length };
  };

  listColleagues: Method<'listColleagues'> = async query =>
    this.#rows.userPage(
      findColleagues(
        { key: this.#rows.keys.entry(query.dn), visibleTo: query.visibleTo },
        { ...this.#rows.tables, members: this.#rows.members },
      ),
      query,
    );
}
