import type { Realm } from '@directory-gateway/realm';
import {
  AndFilter,
  Client,
  EqualityFilter,
  OrFilter,
  PresenceFilter,
  type Entry,
  type Filter,
} from 'ldapts';
import { readFile } from 'node:fs/promises';

const TIMEOUT_MS = 60_000;
/** Entries that the server sends at a time. */
const PAGE_SIZE = 1000;

/** The containers of FreeIPA's tree that are asked. */
export interface Containers {
  readonly accounts: string;
  readonly users: string;
  readonly groups: string;
  readonly agreements: string;
}

/**
 * One connection to the realm's directory as the gateway has it: LDAPS, bound
 * as the service account. What is asked here needs no gateway.
 */
export class DirectoryClient {
  readonly containers: Containers;
  readonly #client: Client;
  readonly #realm: string;

  private constructor(client: Client, { baseDn, realm }: Realm) {
    const accounts = `cn=accounts,${baseDn}`;
    this.#client = client;
    this.#realm = realm;
    this.containers = {
      accounts,
      users: `cn=users,${accounts}`,
      groups: `cn=groups,${accounts}`,
      agreements: `cn=fasagreements,${baseDn}`,
    };
  }

  static async connect(realm: Realm): Promise<DirectoryClient> {
    const client = new Client({
      url: realm.ldapsUrl,
      timeout: TIMEOUT_MS,
      connectTimeout: TIMEOUT_MS,
      tlsOptions: { ca: await readFile(realm.caFile) },
    });
    const password = await readFile(realm.bindPasswordFile, 'utf8');
    await client.bind(realm.bindDn, password.trim());
    return new DirectoryClient(client, realm);
  }

  /** The Kerberos name of a user. */
  principal(username: string): string {
    return `${username}@${this.#realm}`;
  }

  /** The DN of a user; names that the API serves need no escaping. */
  userDn(username: string): string {
    return `uid=${username},${this.containers.users}`;
  }

  /** The DN of a group; names that the API serves need no escaping. */
  groupDn(groupname: string): string {
    return `cn=${groupname},${this.containers.groups}`;
  }

  /** The entry of this name, in a list, if it passes the filter. */
  async base(options: {
    readonly dn: string;
    readonly filter?: Filter;
    readonly attributes: readonly string[];
  }): Promise<readonly Entry[]> {
    const { searchEntries } = await this.#client.search(options.dn, {
      scope: 'base',
      filter: options.filter ?? present('objectClass'),
      attributes: [...options.attributes],
    });
    return searchEntries;
  }

  /** All entries below a container to which all filters apply. */
  async below(options: {
    readonly container: string;
    readonly filters: readonly Filter[];
    readonly attributes: readonly string[];
  }): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    const pages = this.#client.searchPaginated(options.container, {
      scope: 'sub',
      filter: new AndFilter({ filters: [...options.filters] }),
      attributes: [...options.attributes],
      paged: { pageSize: PAGE_SIZE },
    });
    for await (const { searchEntries } of pages) {
      entries.push(...searchEntries);
    }
    return entries;
  }

  async close(): Promise<void> {
    await this.#client.unbind();
  }
}

/** RFC 4511 §4.5.1.7.1: the attribute has this value. */
export function equal(attribute: string, value: string): Filter {
  return new EqualityFilter({ attribute, value });
}

/** RFC 4511 §4.5.1.7.5: the attribute has a value. */
export function present(attribute: string): Filter {
  return new PresenceFilter({ attribute });
}

/** RFC 4511 §4.5.1.7: one of the filters applies. */
export function either(filters: readonly Filter[]): Filter {
  return new OrFilter({ filters: [...filters] });
}
