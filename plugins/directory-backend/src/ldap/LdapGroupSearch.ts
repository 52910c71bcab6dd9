import type { GroupSearchTerm } from '../directory/GroupSearch';
import { compareNames, isGroupName } from '../directory/names';
import type { DirectorySchema } from '../directory/schema';
import type { Containers } from './containers';
import { textOf } from './entryValues';
import { all, isA } from './filters';
import { groupSearchFilter } from './groupSearchFilter';
import type { Asking, LdapReader } from './LdapReader';

/** More in one search would stall the event loop noticeably. */
const ENTRIES_AT_A_TIME = 500;

/** Finds groups by what is in their fields. */
export class LdapGroupSearch {
  readonly #reader: LdapReader;
  readonly #schema: DirectorySchema;
  readonly #containers: Containers;

  constructor(options: {
    readonly reader: LdapReader;
    readonly schema: DirectorySchema;
    readonly containers: Containers;
  }) {
    this.#reader = options.reader;
    this.#schema = options.schema;
    this.#containers = options.containers;
  }

  /** The names of the groups to which all terms apply, in order. */
  async find(
    terms: readonly GroupSearchTerm[],
    asking: Asking,
  ): Promise<readonly string[]> {
    const filter = groupSearchFilter(terms, this.#schema);
    if (!filter) {
      return [];
    }
    const cn = this.#schema.groups.groupname.attribute!;
    const entries = await this.#reader.read(
      {
        base: this.#containers.groups,
        scope: 'one',
        filter: all(isA(this.#schema.groupClass), filter),
        attributes: [cn],
        pageSize: ENTRIES_AT_A_TIME,
      },
      asking,
    );
    return entries
      .map(entry => textOf(entry, cn))
      .filter((name): name is string => name !== undefined && isGroupName(name))
      .sort(compareNames);
  }
}
