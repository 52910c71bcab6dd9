import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Entry } from 'ldapts';
import type { PrincipalQuery } from '../directory/Directory';
import { isUserName } from '../directory/names';
import type { Principal } from '../directory/Principal';
import type { DirectorySchema } from '../directory/schema';
import type { Containers } from './containers';
import { decodePrincipal, principalAttributes } from './decodePrincipal';
import { childOf } from './DistinguishedName';
import { textsOf } from './entryValues';
import { equals, isA } from './filters';
import type { Asking, LdapReader } from './LdapReader';

/** Finds who a caller's name stands for. */
export class LdapPrincipals {
  readonly #reader: LdapReader;
  readonly #schema: DirectorySchema;
  readonly #containers: Containers;
  readonly #logger: LoggerService;

  constructor(options: {
    readonly reader: LdapReader;
    readonly schema: DirectorySchema;
    readonly containers: Containers;
    readonly logger: LoggerService;
  }) {
    this.#reader = options.reader;
    this.#schema = options.schema;
    this.#containers = options.containers;
    this.#logger = options.logger;
  }

  /** As `Directory.findPrincipal`. */
  async find(
    query: PrincipalQuery,
    asking: Asking,
  ): Promise<Principal | undefined> {
    const entries =
      'principal' in query
        ? await this.#byPrincipalName(query.principal, asking)
        : await this.#byUserName(query.username, asking);
    if (entries.length > 1) {
      this.#logger.error(
        'A principal name stands for more than one directory entry, which makes it nobody',
      );
      return undefined;
    }
    return entries.map(entry =>
      decodePrincipal(this.#schema, this.#containers, entry),
    )[0];
  }

  async #byPrincipalName(
    principal: string,
    asking: Asking,
  ): Promise<readonly Entry[]> {
    const entries = await this.#reader.read(
      {
        base: this.#containers.accounts,
        scope: 'sub',
        filter: equals('krbPrincipalName', principal),
        attributes: principalAttributes,
      },
      asking,
    );
    // Kerberos names are case-sensitive (RFC 4120 §6.2), whatever matching
    // rule a directory's schema has.
    return entries.filter(entry =>
      textsOf(entry, 'krbPrincipalName').includes(principal),
    );
  }

  async #byUserName(
    username: string,
    asking: Asking,
  ): Promise<readonly Entry[]> {
    if (!isUserName(username)) {
      return [];
    }
    const entry = await this.#reader.readOne(
      {
        base: childOf(this.#containers.users, {
          attribute: this.#schema.users.username.attribute!,
          value: username,
        }),
        filter: isA('posixAccount'),
        attributes: principalAttributes,
      },
      asking,
    );
    return entry ? [entry] : [];
  }
}
