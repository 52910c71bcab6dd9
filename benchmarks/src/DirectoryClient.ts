import type { Realm } from '@directory-gateway/realm';
import { Client, type Entry } from 'ldapts';
import { readFile } from 'node:fs/promises';

const TIMEOUT_MS = 60_000;
/** Number of entries in a page of a search. */
const PAGE_SIZE = 1000;

/**
 * An LDAPS connection to the realm's directory server, bound as the service
 * account of the gateway.
 */
export class DirectoryClient {
  readonly accounts: string;
  readonly users: string;
  readonly groups: string;
  readonly agreements: string;
  readonly #client: Client;
  readonly #realm: string;

  private constructor(client: Client, { baseDn, realm }: Realm) {
    this.#client = client;
    this.#realm = realm;
    this.accounts = `cn=accounts,${baseDn}`;
    this.users = `cn=users,${this.accounts}`;
    this.groups = `cn=groups,${this.accounts}`;
    this.agreements = `cn=fasagreements,${baseDn}`;
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

  /** Kerberos principal of a user. */
  principal(username: string): string {
    return `${username}@${this.#realm}`;
  }

  /** DN of a user; user names from the API need no escaping. */
  userDn(username: string): string {
    return `uid=${username},${this.users}`;
  }

  /** DN of a group; group names from the API need no escaping. */
  groupDn(groupname: string): string {
    return `cn=${groupname},${this.groups}`;
  }

  /** Reads an entry. The list is empty when the entry does not match. */
  async read(
    dn: string,
    filter: string,
    attributes: readonly string[],
  ): Promise<readonly Entry[]> {
    const { searchEntries } = await this.#client.search(dn, {
      scope: 'base',
      filter,
      attributes: [...attributes],
    });
    return searchEntries;
  }

  /** Searches below a container, page by page. */
  async search(
    container: string,
    filter: string,
    attributes: readonly string[],
  ): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    const pages = this.#client.searchPaginated(container, {
      scope: 'sub',
      filter,
      attributes: [...attributes],
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

/** Escapes a value of an LDAP filter (RFC 4515 §3). */
export function escapeFilterValue(value: string): string {
  return value.replace(
    /[\\*()\0]/g,
    char => `\\${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
