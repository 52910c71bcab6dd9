import { toError } from '@backstage/errors';
import { silentLogger } from '@directory-gateway/backstage-plugin-directory-node';
import type { DirectorySchema } from '@directory-gateway/directory-core';
import { Resolver } from 'node:dns/promises';
import {
  accessRequirements,
  readMissingRights,
  readUnreadableAttributes,
} from './accessRequirements';
import { containersBelow, trustedDn } from './connection/DistinguishedName';
import { isPresent } from './connection/filters';
import { readEndpoint } from './connection/ldapClient';
import type { LdapConfig } from './connection/LdapConfig';
import { isNoSuchObject, isRejectedBind } from './connection/ldapErrors';
import { LdapPool } from './connection/LdapPool';
import { LdapServers } from './connection/LdapServers';
import { entryKinds } from './entryKinds';
import { textsOf } from './entryValues';
import { LdapReader } from './LdapReader';
import { LdapReplicaSource } from './LdapReplicaSource';

/** Result of a bind to one server. */
interface BindResult {
  readonly url: string;
  /** Why the server cannot be used; `undefined` if the bind succeeded. */
  readonly error?: Error;
  /** Whether the server rejected the credentials. */
  readonly isRefused: boolean;
}

/** Attributes of one kind of entry that the account may not read and search. */
export interface MissingRights {
  readonly kind: 'users' | 'groups' | 'agreements';
  readonly attributes: readonly string[];
}

/**
 * Examines the directory servers and the rights of the service account, with
 * the components that the gateway uses. Call {@link DirectoryProbe.bind} first:
 * the other methods use the servers that accepted the bind.
 */
export class DirectoryProbe {
  readonly #ldap: LdapConfig;
  readonly #schema: DirectorySchema;
  readonly #servers: LdapServers;
  #pool: LdapPool;

  /** @param options - `timeoutMs`: maximum time for the response of a server */
  constructor(options: {
    readonly ldap: LdapConfig;
    readonly schema: DirectorySchema;
    readonly timeoutMs: number;
  }) {
    const { ldap, schema, timeoutMs } = options;
    this.#ldap = {
      ...ldap,
      connectTimeoutMs: Math.min(ldap.connectTimeoutMs, timeoutMs),
    };
    this.#schema = schema;
    this.#servers = new LdapServers({
      config: this.#ldap,
      logger: silentLogger,
      resolver: new Resolver({ timeout: timeoutMs, tries: 1 }),
    });
    this.#pool = this.#poolOf([]);
  }

  /**
   * Connects and binds to each server.
   *
   * @throws Error when the CA file or the password file cannot be used, or DNS
   *   lists no servers.
   */
  async bind(): Promise<readonly BindResult[]> {
    await readEndpoint('', this.#ldap);
    const servers = await this.#servers.inOrder();
    if (servers.length === 0 && this.#ldap.servers.kind === 'srv') {
      const { domain, name } = this.#ldap.servers;
      throw new Error(
        `DNS has no SRV records ${name} for servers in ${domain}`,
      );
    }
    const results = await Promise.all(
      servers.map(async server => {
        const { url } = server;
        const error = await server.verifyBind().then(() => undefined, toError);
        return { url, error, isRefused: isRejectedBind(error) };
      }),
    );
    const usable = results.filter(({ error }) => !error);
    this.#pool = this.#poolOf(usable.map(({ url }) => url));
    return results;
  }

  /** Returns whether the container of users exists below the base DN. */
  async hasUsers(): Promise<boolean> {
    const { users } = containersBelow(this.#ldap.baseDn);
    try {
      await this.#read(users, '1.1');
      return true;
    } catch (error) {
      if (isNoSuchObject(error)) {
        return false;
      }
      throw error;
    }
  }

  /** Returns the suffixes of the server, such as `dc=example,dc=org`. */
  async suffixes(): Promise<readonly string[]> {
    const names = await this.#read(trustedDn(''), 'namingContexts');
    return names.filter(name => /^dc=[\w-]+(?:,dc=[\w-]+)*$/i.test(name));
  }

  /** Returns the attributes and object classes that the schema lacks. */
  async missingNames(): Promise<readonly string[]> {
    return await this.#reader().schemaVerifier.findMissing();
  }

  /** Returns the missing rights without which nothing is served. */
  async missingRights(): Promise<readonly MissingRights[]> {
    const { baseDn } = this.#ldap;
    return await Promise.all(
      accessRequirements(this.#schema, baseDn).map(async requirement => ({
        kind: requirement.kind,
        attributes: (await readMissingRights(this.#rights, requirement))
          .missing,
      })),
    );
  }

  /** Returns the missing rights for fields, which are then always absent. */
  async unreadableFields(): Promise<readonly MissingRights[]> {
    const { userClass, groupClass } = this.#schema;
    const kinds = entryKinds({
      schema: this.#schema,
      containers: containersBelow(this.#ldap.baseDn),
    });
    const classes = {
      users: userClass,
      groups: groupClass,
      agreements: 'fasAgreement',
    };
    const names = Object.keys(classes) as (keyof typeof classes)[];
    return await Promise.all(
      names
        .filter(kind => kinds[kind])
        .map(async kind => ({
          kind,
          attributes: await readUnreadableAttributes(
            this.#rights,
            kinds[kind]!.container,
            {
              objectClass: classes[kind],
              attributes: kinds[kind]!.attributes // Not a field. The permission of freeipa-fas to read agreements
                // does not include it.
                .filter(name => name !== 'objectClass')
                // Rights do not depend on options such as `;binary`.
                .map(name => name.split(';')[0]),
            },
          ),
        })),
    );
  }

  /** Returns whether changes of the server can be found by position. */
  async hasPositions(): Promise<boolean> {
    const source = new LdapReplicaSource({
      reader: this.#reader(),
      schema: this.#schema,
      ldap: this.#ldap,
    });
    return (await source.position()).value !== undefined;
  }

  /** Closes all connections. */
  close(): void {
    this.#servers.close();
    this.#pool.close();
  }

  get #rights() {
    return { searcher: this.#pool, bindDn: this.#ldap.bindDn };
  }

  #reader(): LdapReader {
    const { baseDn, bindDn, probeIntervalMs } = this.#ldap;
    return new LdapReader({
      searcher: this.#pool,
      schema: this.#schema,
      baseDn,
      bindDn,
      maxAgeMs: probeIntervalMs,
      logger: silentLogger,
    });
  }

  #poolOf(urls: readonly string[]): LdapPool {
    return new LdapPool({
      config: { ...this.#ldap, servers: { kind: 'urls', urls } },
      logger: silentLogger,
    });
  }

  /** Returns the values of an attribute of one entry. */
  async #read(
    base: ReturnType<typeof trustedDn>,
    attribute: string,
  ): Promise<readonly string[]> {
    const { entries } = await this.#pool.search({
      base,
      scope: 'base',
      filter: isPresent('objectClass'),
      attributes: [attribute],
    });
    return entries.flatMap(entry => textsOf(entry, attribute));
  }
}
