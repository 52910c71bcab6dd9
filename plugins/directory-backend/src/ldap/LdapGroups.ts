import type { Entry, Filter } from 'ldapts';
import type { GroupsQuery } from '../directory/Directory';
import { emptyGroup, type Group } from '../directory/Group';
import { compareNames, isGroupName } from '../directory/names';
import { slicePage, type Page, type PageRequest } from '../directory/Page';
import type { DirectorySchema } from '../directory/schema';
import type { Containers } from './containers';
import { attributesOf, decodeRecord } from './decodeRecord';
import {
  childOf,
  isBelow,
  normalizeDn,
  rdnValueOf,
  type DistinguishedName,
} from './DistinguishedName';
import { textOf, textsOf } from './entryValues';
import { all, any, equals, isA, isPresent } from './filters';
import type { Asking, LdapReader } from './LdapReader';
import type { MirroredEntries } from './MirroredEntries';
import { namesAtATime } from './namesAtATime';
import { ServedNames, type ServedName } from './ServedNames';

/** More in one search would stall the event loop noticeably. */
const ENTRIES_AT_A_TIME = 500;

/** Of groups with all their members, one may be as large as many others. */
const GROUPS_AT_A_TIME = 50;

/** Reads groups, and who is in them. */
export class LdapGroups {
  readonly #reader: LdapReader;
  readonly #schema: DirectorySchema;
  readonly #containers: Containers;
  readonly #mirror: MirroredEntries<ServedName>;

  constructor(options: {
    readonly reader: LdapReader;
    readonly schema: DirectorySchema;
    readonly containers: Containers;
    readonly mirror: MirroredEntries<ServedName>;
  }) {
    this.#reader = options.reader;
    this.#schema = options.schema;
    this.#containers = options.containers;
    this.#mirror = options.mirror;
  }

  /** The DN of the group of a name that has passed `isGroupName`. */
  dnOf(groupname: string): DistinguishedName {
    return childOf(this.#containers.groups, {
      attribute: this.#cn,
      value: groupname,
    });
  }

  /** Which groups are served now. */
  async names(asking: Asking): Promise<ServedNames> {
    return ServedNames.of(await this.#mirror.current(asking));
  }

  /** The DN of the served group of a name, as it is asked for. */
  async servedDn(
    groupname: string,
    asking: Asking,
  ): Promise<DistinguishedName | undefined> {
    return this.dnAmong(await this.names(asking), groupname);
  }

  /** The DN of a group, if it is among the served ones. */
  dnAmong(
    served: ServedNames,
    groupname: string,
  ): DistinguishedName | undefined {
    const dn = isGroupName(groupname) ? this.dnOf(groupname) : undefined;
    return dn && served.get(normalizeDn(dn)) ? dn : undefined;
  }

  /** One group's record. */
  async get(
    query: GroupsQuery & { readonly groupname: string },
    asking: Asking,
  ): Promise<Group | undefined> {
    const entry = await this.#readServed(
      query.groupname,
      attributesOf(this.#schema.groups, ['groupname', ...query.fields]),
      asking,
    );
    return entry && this.#decode(entry, query);
  }

  /** The records of one page of ordered names: no search when none is needed. */
  async page(
    names: readonly string[],
    query: GroupsQuery & { readonly page: PageRequest },
    asking: Asking,
  ): Promise<Page<Group>> {
    const shown = slicePage(names, query.page);
    return {
      items: await this.#records(shown, query, asking),
      total: names.length,
    };
  }

  /**
   * Normalized names of all entries in a group, directly or through other
   * groups, served or not; `undefined` when the group is not served.
   */
  async members(
    groupname: string,
    asking: Asking,
  ): Promise<ReadonlySet<string> | undefined> {
    const group = await this.#readServed(groupname, ['member'], asking);
    return group && this.#expand(group, 'member', asking);
  }

  /**
   * As {@link members}, of all served groups together. A filter that names all
   * groups would have the server compare each user with each of them.
   */
  async membersOfAny(asking: Asking): Promise<ReadonlySet<string>> {
    const served = await this.names(asking);
    const groups = await this.#reader.read(
      {
        base: this.#containers.groups,
        scope: 'one',
        filter: any([isA(this.#schema.groupClass), isPresent('memberOf')]),
        attributes: ['member'],
        pageSize: GROUPS_AT_A_TIME,
      },
      asking,
    );
    const members = new Map(
      groups.map(group => [
        normalizeDn(group.dn),
        textsOf(group, 'member').map(normalizeDn),
      ]),
    );
    const start = [...members.keys()].filter(dn => served.get(dn));
    return reachable(start, dn => members.get(dn) ?? []);
  }

  /** As {@link members}, of those who manage the group's members. */
  async sponsors(
    groupname: string,
    asking: Asking,
  ): Promise<ReadonlySet<string> | undefined> {
    const group = await this.#readServed(groupname, ['memberManager'], asking);
    return group && this.#expand(group, 'memberManager', asking);
  }

  /**
   * The values of an attribute, and the members of the groups among them: one
   * more search, when there are any, because a nested group's `memberOf` names
   * every group above it.
   */
  async #expand(
    group: Entry,
    attribute: string,
    asking: Asking,
  ): Promise<ReadonlySet<string>> {
    const values = textsOf(group, attribute).map(normalizeDn);
    const nested = values.filter(dn => isBelow(dn, this.#containers.groups));
    if (nested.length === 0) {
      return new Set(values);
    }
    const groups = await this.#reader.read(
      {
        base: this.#containers.groups,
        scope: 'one',
        filter: any(nested.flatMap(dn => this.#isOrIsIn(dn))),
        attributes: ['member'],
        pageSize: ENTRIES_AT_A_TIME,
      },
      asking,
    );
    const further = groups.flatMap(entry =>
      textsOf(entry, 'member').map(normalizeDn),
    );
    return new Set([...values, ...further]);
  }

  #isOrIsIn(groupDn: string): readonly Filter[] {
    const name = rdnValueOf(groupDn);
    const isIn = equals('memberOf', groupDn);
    return name === undefined ? [isIn] : [equals(this.#cn, name), isIn];
  }

  async #readServed(
    groupname: string,
    attributes: readonly string[],
    asking: Asking,
  ): Promise<Entry | undefined> {
    if (!isGroupName(groupname)) {
      return undefined;
    }
    const entry = await this.#reader.readOne(
      {
        base: this.dnOf(groupname),
        filter: isA(this.#schema.groupClass),
        attributes: [...new Set([this.#cn, ...attributes])],
      },
      asking,
    );
    // The directory folds spaces: `a b` also finds a group named `a  b`.
    return entry && isGroupName(textOf(entry, this.#cn) ?? '')
      ? entry
      : undefined;
  }

  async #records(
    names: readonly string[],
    query: GroupsQuery,
    asking: Asking,
  ): Promise<Group[]> {
    const isNameEnough = [...query.fields].every(name => name === 'groupname');
    if (isNameEnough || names.length === 0) {
      return names.map(groupname => ({ groupname }));
    }
    const found = await Promise.all(
      namesAtATime(names).map(some => this.#readNamed(some, query, asking)),
    );
    return found
      .flat()
      .map(entry => this.#decode(entry, query))
      .sort((a, b) => compareNames(a.groupname, b.groupname));
  }

  #readNamed(
    names: readonly string[],
    query: GroupsQuery,
    asking: Asking,
  ): Promise<readonly Entry[]> {
    return this.#reader.read(
      {
        base: this.#containers.groups,
        scope: 'one',
        // The names first: with few candidates the server leaves the index of
        // object classes alone, which lists every entry there is.
        filter: all(
          any(names.map(name => equals(this.#cn, name))),
          isA(this.#schema.groupClass),
        ),
        attributes: attributesOf(this.#schema.groups, [
          'groupname',
          ...query.fields,
        ]),
      },
      asking,
    );
  }

  #decode(entry: Entry, { fields }: GroupsQuery): Group {
    return decodeRecord<Group>(this.#schema.groups, entry, {
      fields: ['groupname', ...fields],
      empty: emptyGroup(),
    });
  }

  get #cn(): string {
    return this.#schema.groups.groupname.attribute!;
  }
}

/** All that can be reached in one or more steps. */
function reachable(
  start: readonly string[],
  next: (name: string) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const further of next(name)) {
      if (!found.has(further)) {
        found.add(further);
        open.push(further);
      }
    }
  }
  return found;
}
