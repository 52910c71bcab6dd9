import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Entry } from 'ldapts';
import type { RequestContext } from '../directory/Directory';
import { isUserName } from '../directory/names';
import type {
  Principal,
  PrincipalLookup,
  PrincipalQuery,
} from '../directory/Principal';
import type { DirectorySchema } from '../directory/schema';
import {
  childOf,
  type Containers,
  containersBelow,
  isBelow,
  rdnValueOf,
} from './connection/DistinguishedName';
import { equals, isA } from './connection/filters';
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
  'memberOf',
];

const NOT_FOUND: LdapSearchResult = { entries: [], server: '' };

/** Searches the directory for each lookup of a principal. */
export class LdapPrincipalLookup implements PrincipalLookup {
  readonly #reader: LdapReader;
  readonly #schema: DirectorySchema;
  readonly #containers: Containers;
  readonly #logger: LoggerService;

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
        ? await this.#byPrincipalName(query.principal, context)
        : await this.#byUsername(query.username, context);
    if (entries.length > 1) {
      this.#logger.error(
        'Principal name matches more than one directory entry; rejected',
      );
      return undefined;
    }
    return entries[0] && { ...this.#decode(entries[0]), server };
  }

  async #byPrincipalName(
    principal: string,
    context: RequestContext,
  ): Promise<LdapSearchResult> {
    const { entries, server } = await this.#reader.search(
      {
        base: this.#containers.accounts,
        scope: 'sub',
        filter: equals('krbPrincipalName', principal),
        attributes: ATTRIBUTES,
      },
      context,
    );
    // Kerberos names are case-sensitive (RFC 4120 §6.2), whatever matching
    // rule a directory's schema has.
    return {
      entries: entries.filter(entry =>
        textsOf(entry, 'krbPrincipalName').includes(principal),
      ),
      server,
    };
  }

  async #byUsername(
    value: string,
    context: RequestContext,
  ): Promise<LdapSearchResult> {
    if (!isUserName(value)) {
      return NOT_FOUND;
    }
    const attribute = this.#schema.users.username.attribute!;
    try {
      return await this.#reader.search(
        {
          base: childOf(this.#containers.users, { attribute, value }),
          scope: 'base',
          filter: isA('posixAccount'),
          attributes: ATTRIBUTES,
        },
        context,
      );
    } catch (error) {
      if (isNoSuchObject(error)) {
        return NOT_FOUND;
      }
      throw error;
    }
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
        textsOf(entry, 'memberOf')
          .filter(dn => isBelow(dn, groups))
          .flatMap(dn => rdnValueOf(dn)?.toLowerCase() ?? []),
      ),
    };
  }
}

function kindOf(service: string | undefined): Principal['kind'] {
  if (service === undefined) {
    return 'user';
  }
  return service.startsWith('host/') ? 'host' : 'service';
}

/** Returns the canonical name, or else an alias, without its realm. */
function serviceNameOf(entry: Entry): string {
  const name =
    textOf(entry, 'krbCanonicalName') ??
    requiredTextOf(entry, 'krbPrincipalName');
  return name.replace(/@[^@]*$/, '');
}
