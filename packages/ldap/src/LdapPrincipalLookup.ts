import type { LoggerService } from '@backstage/backend-plugin-api';
import { Batch } from '@directory-gateway/backstage-plugin-directory-node';
import { AndFilter, type Entry, type Filter, OrFilter } from 'ldapts';
import {
  type DirectorySchema,
  DirectoryUnavailableError,
  isUserName,
  type Principal,
  type PrincipalLookup,
  type PrincipalQuery,
  type RequestContext,
  type SubjectLookup,
  type SubjectQuery,
  type SubjectState,
} from '@directory-gateway/directory-core';
import {
  childOf,
  type Containers,
  containersBelow,
  type DistinguishedName,
  isBelow,
  normalizeDn,
  rdnValueOf,
  trustedDn,
} from './connection/DistinguishedName';
import { equals, isA, isPresent } from './connection/filters';
import { withDeadline } from './connection/ldapClient';
import { isNoSuchObject } from './connection/ldapErrors';
import type { LdapSearchResult } from './connection/LdapPool';
import {
  booleanOf,
  hasClass,
  requiredTextOf,
  textOf,
  textsOf,
  timeOf,
} from './entryValues';
import { GetEffectiveRightsControl, missingRights } from './effectiveRights';
import { MEMBER_OF } from './entryKinds';
import type { LdapReader } from './LdapReader';

/** Attributes of a {@link Principal}. */
const ATTRIBUTES = [
  'objectClass',
  'uid',
  'krbPrincipalName',
  'krbCanonicalName',
  'krbPrincipalExpiration',
  'mail',
  'nsAccountLock',
  MEMBER_OF,
  'ipaUniqueID',
  'nsUniqueId',
];

/** Attributes of a stable ID, in order of preference. */
const STABLE_IDS = ['ipaUniqueID', 'nsUniqueId'];

/**
 * Object classes that allow `memberOf`. For entries of other classes, 389
 * Directory Server returns that the account has no right on the attribute.
 */
const GROUP_CLASSES = ['inetUser', 'nsMemberOf'];

/** Maximum milliseconds for which a batch of lookups waits for another one. */
const MAX_BATCH_WAIT_MS = 50;

const NOT_FOUND: LdapSearchResult = { entries: [], server: '' };

type SharedSearch = Batch<string, Promise<LdapSearchResult>>;

/**
 * Searches the directory for each lookup of a principal. Lookups by name share a
 * search while an earlier one is pending.
 */
export class LdapPrincipalLookup implements PrincipalLookup, SubjectLookup {
  readonly #reader: LdapReader;
  readonly #schema: DirectorySchema;
  readonly #containers: Containers;
  readonly #logger: LoggerService;
  readonly #usernames = sharedSearch(
    names => this.#byUsernames(names),
    name => {
      const dn = normalizeDn(this.#dnOf(name));
      return entry => normalizeDn(entry.dn) === dn;
    },
  );
  readonly #principalNames = sharedSearch(
    names => this.#byPrincipalNames(names),
    // Kerberos names are case-sensitive (RFC 4120 §6.2), regardless of the
    // matching rule in a directory's schema.
    name => entry => textsOf(entry, 'krbPrincipalName').includes(name),
  );

  constructor(options: {
    readonly reader: LdapReader;
    readonly schema: DirectorySchema;
    readonly baseDn: string;
    readonly logger: LoggerService;
  }) {
    this.#reader = options.reader;
    this.#schema = options.schema;
    this.#containers = containersBelow(options.baseDn);
    this.#logger = options.logger;
  }

  async find(
    query: PrincipalQuery,
    context: RequestContext,
  ): Promise<Principal | undefined> {
    const { entries, server } =
      'principal' in query
        ? await this.#byName(this.#principalNames, query.principal, context)
        : await this.#byUsername(query.username, context);
    if (entries.length > 1) {
      this.#logger.error(
        'Principal name matches more than one directory entry; rejected',
      );
      return undefined;
    }
    const [entry] = entries;
    try {
      await (entry && this.#requireGroups(entry));
    } catch (error) {
      if (isNoSuchObject(error)) {
        // The entry was renamed or deleted in the meantime.
        return await this.find(query, context);
      }
      throw error;
    }
    return entry && { ...this.#decode(entry), server };
  }

  /**
   * Requires that the account may read the groups of an entry: an unreadable
   * `memberOf` looks like that of an entry without groups.
   *
   * @throws DirectoryUnavailableError with the reason `accessCheck`.
   */
  async #requireGroups(entry: Entry): Promise<void> {
    const mayHaveGroups = GROUP_CLASSES.some(name => hasClass(entry, name));
    if (!mayHaveGroups || textsOf(entry, MEMBER_OF).length > 0) {
      return;
    }
    const { entries } = await this.#reader.search({
      base: trustedDn(entry.dn),
      scope: 'base',
      filter: isPresent('objectClass'),
      attributes: [MEMBER_OF],
      control: new GetEffectiveRightsControl(this.#reader.bindDn),
    });
    if (missingRights(entries[0], [MEMBER_OF]).length > 0) {
      throw new DirectoryUnavailableError(
        `The service account may not read ${MEMBER_OF} of an entry`,
        { reason: 'accessCheck' },
      );
    }
  }

  /**
   * Looks up an account by its stable ID.
   *
   * A missing right makes an entry seem absent without an error. One search
   * finds the account and its witnesses, by the same attribute and on the same
   * server. The directory removes a deleted or preserved user from groups
   * (referential integrity), so a user who is still a member of a group exists
   * but is unreadable.
   */
  async findSubject(
    { stableId, username, witnesses }: SubjectQuery,
    context: RequestContext,
  ): Promise<SubjectState> {
    const { entries, server } = await this.#reader.search({
      base: this.#containers.users,
      scope: 'sub',
      filter: new OrFilter({ filters: [stableId, ...witnesses].map(hasId) }),
      attributes: ATTRIBUTES,
    });
    const found = entries.filter(entry => idsOf(entry).includes(stableId));
    if (found.length > 0) {
      return found.length === 1
        ? {
            kind: 'found',
            principal: { ...this.#decode(found[0]), server },
          }
        : { kind: 'unknown' };
    }
    const isWitnessed = entries.some(entry =>
      idsOf(entry).some(id => witnesses.includes(id)),
    );
    return isWitnessed && (await this.#isFree(username, stableId, context))
      ? { kind: 'deleted', server }
      : { kind: 'unknown' };
  }

  /**
   * Returns whether another account has the user name, or neither an account
   * nor a group member has it.
   */
  async #isFree(
    username: string,
    stableId: string,
    context: RequestContext,
  ): Promise<boolean> {
    const named = await this.#byUsername(username, context);
    if (named.entries.length > 0) {
      const attribute = attributeOf(stableId);
      return named.entries.some(entry =>
        idsOf(entry).some(
          id => id !== stableId && attributeOf(id) === attribute,
        ),
      );
    }
    const { entries } = await this.#reader.search({
      base: this.#containers.groups,
      scope: 'sub',
      filter: equals('member', this.#dnOf(username)),
      attributes: ['objectClass'],
    });
    return entries.length === 0;
  }

  async #byName(
    search: SharedSearch,
    name: string,
    { signal }: RequestContext,
  ): Promise<LdapSearchResult> {
    // The caller may have disconnected.
    signal.throwIfAborted();
    return await search.add(name);
  }

  #byPrincipalNames(names: readonly string[]): Promise<LdapSearchResult> {
    return this.#reader.search({
      base: this.#containers.accounts,
      scope: 'sub',
      filter: anyOf('krbPrincipalName', names),
      attributes: ATTRIBUTES,
    });
  }

  async #byUsername(
    username: string,
    context: RequestContext,
  ): Promise<LdapSearchResult> {
    return isUserName(username)
      ? await this.#byName(this.#usernames, username, context)
      : NOT_FOUND;
  }

  /** Finds users by the name in their DN. */
  async #byUsernames(usernames: readonly string[]): Promise<LdapSearchResult> {
    const [first, ...others] = new Set(usernames);
    const isUser = isA('posixAccount');
    const attribute = this.#schema.users.username.attribute!;
    try {
      return await this.#reader.search({
        ...(others.length === 0
          ? { base: this.#dnOf(first), scope: 'base', filter: isUser }
          : {
              base: this.#containers.users,
              scope: 'one',
              filter: new AndFilter({
                filters: [isUser, anyOf(attribute, usernames)],
              }),
            }),
        attributes: ATTRIBUTES,
      });
    } catch (error) {
      if (isNoSuchObject(error)) {
        return NOT_FOUND;
      }
      throw error;
    }
  }

  #dnOf(username: string): DistinguishedName {
    const attribute = this.#schema.users.username.attribute!;
    return childOf(this.#containers.users, { attribute, value: username });
  }

  #decode(entry: Entry): Principal {
    const { users, groups } = this.#containers;
    const isUser = isBelow(entry.dn, users);
    const username = isUser ? requiredTextOf(entry, 'uid') : undefined;
    const service = isUser ? undefined : serviceNameOf(entry);
    return {
      dn: entry.dn,
      kind: kindOf(service),
      username,
      service,
      stableId: idsOf(entry)[0],
      served:
        username !== undefined &&
        isUserName(username) &&
        hasClass(entry, this.#schema.userClass),
      principalNames: textsOf(entry, 'krbPrincipalName'),
      canonicalName:
        textOf(entry, 'krbCanonicalName') ?? textOf(entry, 'krbPrincipalName'),
      emails: textsOf(entry, 'mail'),
      locked: booleanOf(entry, 'nsAccountLock') ?? false,
      expires: timeOf(entry, 'krbPrincipalExpiration'),
      // `memberOf` also names roles and agreements.
      groups: new Set(
        textsOf(entry, MEMBER_OF)
          .filter(dn => isBelow(dn, groups))
          .flatMap(dn => rdnValueOf(dn)?.toLowerCase() ?? []),
      ),
    };
  }
}

/**
 * Combines concurrent searches by name. A batch waits for the search of the one
 * before it, but not for long.
 */
function sharedSearch(
  search: (names: readonly string[]) => Promise<LdapSearchResult>,
  hasName: (name: string) => (entry: Entry) => boolean,
): SharedSearch {
  return new Batch(async names => {
    const found = search(names);
    await withDeadline(found, {
      ms: MAX_BATCH_WAIT_MS,
      error: () => new Error('The search is still pending'),
    }).catch(() => {
      // The batch itself does not fail: no search is repeated for each name.
    });
    return names.map(async name => {
      const { entries, server } = await found;
      const named = entries.filter(hasName(name));
      // Access rules can permit reading an entry but not a search by its name.
      return named.length === 0 && names.length > 1
        ? await search([name])
        : { entries: named, server };
    });
  });
}

function anyOf(attribute: string, values: readonly string[]): Filter {
  const filters = values.map(value => equals(attribute, value));
  return filters.length === 1 ? filters[0] : new OrFilter({ filters });
}

/** Returns the stable IDs of an entry, in order of preference. */
function idsOf(entry: Entry): readonly string[] {
  return STABLE_IDS.flatMap(attribute => {
    const value = textOf(entry, attribute);
    return value === undefined ? [] : [`${attribute}=${value}`];
  });
}

function attributeOf(stableId: string): string {
  return stableId.slice(0, stableId.indexOf('='));
}

/** Returns the filter for entries with a stable ID. */
function hasId(stableId: string): Filter {
  const attribute = attributeOf(stableId);
  return equals(attribute, stableId.slice(attribute.length + 1));
}

function kindOf(service: string | undefined): Principal['kind'] {
  if (service === undefined) {
    return 'user';
  }
  return service.startsWith('host/') ? 'host' : 'service';
}

/**
 * Returns the canonical name without its realm, or an alias if there is none.
 */
function serviceNameOf(entry: Entry): string {
  const name =
    textOf(entry, 'krbCanonicalName') ??
    requiredTextOf(entry, 'krbPrincipalName');
  return name.replace(/@[^@]*$/, '');
}
