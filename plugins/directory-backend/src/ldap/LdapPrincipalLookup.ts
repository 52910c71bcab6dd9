import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Entry } from 'ldapts';
import { isUserName } from '../directory/names';
import type {
  Principal,
  PrincipalLookup,
  PrincipalQuery,
} from '../directory/Principal';
import type { DirectorySchema } from '../directory/schema';
import {
  containersBelow,
  type Containers,
} from './connection/DistinguishedName';
import { childOf, isBelow, rdnValueOf } from './connection/DistinguishedName';
import {
  booleanOf,
  requiredTextOf,
  textOf,
  textsOf,
  timeOf,
} from './entryValues';
import { equals, isA } from './connection/filters';
import { isNoSuchObject } from './connection/ldapErrors';
import type { RequestContext, LdapReader } from './LdapReader';

/** Attributes that a {@link Principal} is decoded from. */
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

/** Entries that a search found, and the server that found them. */
interface Found {
  readonly entries: readonly Entry[];
  readonly server?: string;
}

/** Looks up principals among FreeIPA's accounts, each time with a search. */
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
    asking: RequestContext,
  ): Promise<Principal | undefined> {
    const { entries, server } =
      'principal' in query
        ? await this.#byPrincipalName(query.principal, asking)
        : await this.#byUserName(query.username, asking);
    if (entries.length > 1) {
      this.#logger.error(
        'More than one directory entry has the principal name, so none is returned',
      );
      return undefined;
    }
    return entries.map(entry =>
      decodePrincipal(entry, {
        schema: this.#schema,
        containers: this.#containers,
        server,
      }),
    )[0];
  }

  async #byPrincipalName(principal: string, asking: RequestContext): Promise<Found> {
    const { entries, server } = await this.#reader.search(
      {
        base: this.#containers.accounts,
        scope: 'sub',
        filter: equals('krbPrincipalName', principal),
        attributes: ATTRIBUTES,
      },
      asking,
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

  async #byUserName(username: string, asking: RequestContext): Promise<Found> {
    if (!isUserName(username)) {
      return { entries: [] };
    }
    try {
      return await this.#reader.search(
        {
          base: childOf(this.#containers.users, {
            attribute: this.#schema.users.username.attribute!,
            value: username,
          }),
          scope: 'base',
          filter: isA('posixAccount'),
          attributes: ATTRIBUTES,
        },
        asking,
      );
    } catch (error) {
      if (isNoSuchObject(error)) {
        return { entries: [] };
      }
      throw error;
    }
  }
}

function decodePrincipal(
  entry: Entry,
  {
    schema,
    containers,
    server,
  }: {
    readonly schema: DirectorySchema;
    readonly containers: Containers;
    readonly server: string | undefined;
  },
): Principal {
  const isUser = isBelow(entry.dn, containers.users);
  const username = isUser ? requiredTextOf(entry, 'uid') : undefined;
  const service = isUser ? undefined : serviceNameOf(entry);
  return {
    dn: entry.dn,
    kind: kindOf(isUser, service),
    username,
    service,
    served:
      username !== undefined &&
      isUserName(username) &&
      hasClass(entry, schema.userClass),
    principalNames: textsOf(entry, 'krbPrincipalName'),
    canonicalName:
      textOf(entry, 'krbCanonicalName') ?? textOf(entry, 'krbPrincipalName'),
    emails: textsOf(entry, 'mail'),
    locked: booleanOf(entry, 'nsAccountLock') ?? false,
    expires: timeOf(entry, 'krbPrincipalExpiration'),
    groups: groupsOf(entry, containers),
    server,
  };
}

function kindOf(
  isUser: boolean,
  service: string | undefined,
): Principal['kind'] {
  if (isUser) {
    return 'user';
  }
  return service?.startsWith('host/') ? 'host' : 'service';
}

/** The canonical name rather than an alias, without `@REALM`. */
function serviceNameOf(entry: Entry): string {
  const name =
    textOf(entry, 'krbCanonicalName') ??
    requiredTextOf(entry, 'krbPrincipalName');
  return name.replace(/@[^@]*$/, '');
}

function hasClass(entry: Entry, objectClass: string): boolean {
  return textsOf(entry, 'objectClass').some(
    name => name.toLowerCase() === objectClass.toLowerCase(),
  );
}

/** `memberOf` also names roles and agreements; only groups count here. */
function groupsOf(entry: Entry, containers: Containers): ReadonlySet<string> {
  return new Set(
    textsOf(entry, 'memberOf')
      .filter(dn => isBelow(dn, containers.groups))
      .map(dn => rdnValueOf(dn)?.toLowerCase())
      .filter(name => name !== undefined),
  );
}
