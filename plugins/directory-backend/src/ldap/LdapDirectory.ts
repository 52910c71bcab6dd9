import type { LoggerService } from '@backstage/backend-plugin-api';
import { metrics } from '@opentelemetry/api';
import {
  AndFilter,
  EqualityFilter,
  OrFilter,
  type Entry,
  type Filter,
} from 'ldapts';
import type {
  Directory,
  DirectoryContext,
  PrincipalQuery,
  UsersQuery,
} from '../directory/Directory';
import { compareNames, isName } from '../directory/names';
import { slicePage, type Page, type PageRequest } from '../directory/Page';
import type { Principal } from '../directory/Principal';
import type { DirectorySchema } from '../directory/schema';
import type { User } from '../directory/User';
import { containersBelow, type Containers } from './containers';
import { decodePrincipal, principalAttributes } from './decodePrincipal';
import { attributesOf, decodeUser } from './decodeUser';
import { childOf } from './DistinguishedName';
import { textOf, textsOf } from './entryValues';
import type { LdapSearch } from './LdapConnection';
import { isNoSuchObject } from './ldapErrors';
import type { LdapSearcher } from './LdapPool';
import type { RightsProof } from './RightsProof';

/** More in one search would stall the event loop noticeably. */
const ENTRIES_AT_A_TIME = 500;

type Asking = Pick<DirectoryContext, 'signal'>;

/** Answers from FreeIPA's LDAP, asked as the service account. */
export class LdapDirectory implements Directory {
  readonly #searcher: LdapSearcher;
  readonly #proof: RightsProof;
  readonly #schema: DirectorySchema;
  readonly #containers: Containers;
  readonly #logger: LoggerService;
  readonly #unnamed = metrics
    .getMeter('directory')
    .createGauge('directory.entries.unnamed', {
      description: 'Entries left out because their name breaks the pattern',
    });

  constructor(options: {
    readonly searcher: LdapSearcher;
    readonly proof: RightsProof;
    readonly schema: DirectorySchema;
    readonly baseDn: string;
    readonly logger: LoggerService;
  }) {
    this.#searcher = options.searcher;
    this.#proof = options.proof;
    this.#schema = options.schema;
    this.#containers = containersBelow(options.baseDn);
    this.#logger = options.logger;
  }

  async findPrincipal(
    query: PrincipalQuery,
    context: Asking,
  ): Promise<Principal | undefined> {
    const entries =
      'principal' in query
        ? await this.#findByPrincipalName(query.principal, context)
        : await this.#findByUserName(query.username, context);
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

  async getUser(
    query: UsersQuery & { readonly username: string },
    context: DirectoryContext,
  ): Promise<User | undefined> {
    if (!isName(query.username)) {
      return undefined;
    }
    const [entry] = await this.#readOne(
      {
        base: this.#userDn(query.username),
        scope: 'base',
        filter: isA(this.#schema.userClass),
        attributes: attributesOf(this.#schema, query.fields),
      },
      context,
    );
    return entry && decodeUser(this.#schema, entry, query.fields);
  }

  async listUsers(
    query: UsersQuery & { readonly page: PageRequest },
    context: DirectoryContext,
  ): Promise<Page<User>> {
    const names = await this.#userNames(context);
    const users = await this.#usersByName(
      slicePage(names, query.page),
      query,
      context,
    );
    return { items: users, total: names.length };
  }

  /** Every served user name, in the order of the lists. */
  async #userNames(context: Asking): Promise<string[]> {
    const uid = this.#uid();
    const entries = await this.#read(
      {
        base: this.#containers.users,
        scope: 'one',
        filter: isA(this.#schema.userClass),
        attributes: [uid],
        pageSize: ENTRIES_AT_A_TIME,
      },
      context,
    );
    const names = entries
      .map(entry => textOf(entry, uid))
      .filter((name): name is string => name !== undefined && isName(name));
    this.#unnamed.record(entries.length - names.length, { kind: 'user' });
    return names.sort(compareNames);
  }

  /** The users of these names, in the order of the names. */
  async #usersByName(
    names: readonly string[],
    query: UsersQuery,
    context: Asking,
  ): Promise<User[]> {
    if (names.length === 0) {
      return [];
    }
    const uid = this.#uid();
    const entries = await this.#read(
      {
        base: this.#containers.users,
        scope: 'one',
        filter: new AndFilter({
          filters: [
            isA(this.#schema.userClass),
            new OrFilter({ filters: names.map(name => equals(uid, name)) }),
          ],
        }),
        attributes: attributesOf(this.#schema, query.fields),
        pageSize: ENTRIES_AT_A_TIME,
      },
      context,
    );
    return entries
      .map(entry => decodeUser(this.#schema, entry, query.fields))
      .sort((a, b) => compareNames(a.username, b.username));
  }

  async #findByPrincipalName(
    principal: string,
    context: Asking,
  ): Promise<Entry[]> {
    const entries = await this.#read(
      {
        base: this.#containers.accounts,
        scope: 'sub',
        filter: equals('krbPrincipalName', principal),
        attributes: principalAttributes,
      },
      context,
    );
    // Kerberos names are case-sensitive (RFC 4120 §6.2), whatever matching
    // rule a directory's schema has.
    return entries.filter(entry =>
      textsOf(entry, 'krbPrincipalName').includes(principal),
    );
  }

  async #findByUserName(username: string, context: Asking): Promise<Entry[]> {
    if (!isName(username)) {
      return [];
    }
    return this.#readOne(
      {
        base: this.#userDn(username),
        scope: 'base',
        filter: isA('posixAccount'),
        attributes: principalAttributes,
      },
      context,
    );
  }

  /** A search whose base may not exist, which is then the answer. */
  async #readOne(search: LdapSearch, context: Asking): Promise<Entry[]> {
    try {
      return await this.#read(search, context);
    } catch (error) {
      if (isNoSuchObject(error)) {
        return [];
      }
      throw error;
    }
  }

  /** Nothing is read before the account's rights are proven. */
  async #read(search: LdapSearch, context: Asking): Promise<Entry[]> {
    await this.#proof.require(context);
    return this.#searcher.search(search, context);
  }

  #userDn(username: string) {
    return childOf(this.#containers.users, {
      attribute: this.#uid(),
      value: username,
    });
  }

  #uid(): string {
    return this.#schema.users.username.attribute!;
  }
}

function isA(objectClass: string): Filter {
  return equals('objectClass', objectClass);
}

function equals(attribute: string, value: string): Filter {
  return new EqualityFilter({ attribute, value });
}
