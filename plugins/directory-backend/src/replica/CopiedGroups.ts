import type { Directory } from '../directory/Directory';
import { groupWith, pageOf, type CopiedRows } from './CopiedRows';
import { findValues } from './findValues';
import { inAll, inAny } from './rankSets';

type Method<Name extends keyof Directory> = Directory[Name];

/** Answers about groups. */
export class CopiedGroups {
  readonly #rows: CopiedRows;

  constructor(rows: CopiedRows) {
    this.#rows = rows;
  }

  getGroup: Method<'getGroup'> = async query => {
    const row = this.#rows.group(query);
    return row && groupWith(query)(row);
  };

  listGroups: Method<'listGroups'> = async query =>
    pageOf(this.#rows.tables.groups.served.inOrder, query, groupWith(query));

  searchGroups: Method<'searchGroups'> = async query => {
    const { served } = this.#rows.tables.groups;
    const found = query.terms.map(term =>
      term.kind === 'anyOf'
        ? inAny(term.terms.map(each => findValues(served, each)))
        : findValues(served, term),
    );
    const rows = Array.from(inAll(found), rank => served.inOrder[rank]);
    return pageOf(rows, query, groupWith(query));
  };

  listMemberGroups: Method<'listMemberGroups'> = async query => {
    const group = this.#rows.group(query);
    const { graph, served } = this.#rows.tables.groups;
    const nestedIn = (key: string) =>
      graph.groupsIn(key, name => served.get(name) !== undefined);
    return (
      group &&
      pageOf(this.#rows.groupsAmong(nestedIn(group.key)), query, row => ({
        group: groupWith(query)(row),
        hasMemberGroups: nestedIn(row.key).size > 0,
      }))
    );
  };

  countGroupMembers: Method<'countGroupMembers'> = async ({ groupnames }) =>
    new Map(
      groupnames.map(groupname => {
        const group = this.#rows.group({ groupname });
        return [
          groupname,
          group ? this.#rows.members.unlocked(group.key).length : 0,
        ];
      }),
    );
}
