import type { Realm } from '@directory-gateway/realm';
import { Attribute, Change, Client } from 'ldapts';
import { readFile } from 'node:fs/promises';

const TIMEOUT_MS = 60_000;

const USER_CLASSES = [
  ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux', 'fasUser'],
];
const GROUP_CLASSES = ['ipaUserGroup', 'fasGroup'];

/** Writes to a realm's directory as its administrator, on one connection. */
export class DirectoryWriter {
  readonly #client: Client;
  readonly #users: string;
  readonly #groups: string;

  private constructor(client: Client, baseDn: string) {
    this.#client = client;
    this.#users = `cn=users,cn=accounts,${baseDn}`;
    this.#groups = `cn=groups,cn=accounts,${baseDn}`;
  }

  static async connect(realm: Realm): Promise<DirectoryWriter> {
    const client = new Client({
      url: realm.ldapUrl,
      timeout: TIMEOUT_MS,
      connectTimeout: TIMEOUT_MS,
    });
    const password = await readFile(realm.rootPasswordFile, 'utf8');
    await client.bind(realm.rootDn, password.trim());
    return new DirectoryWriter(client, realm.baseDn);
  }

  /** A person of the API; names here need no escaping. */
  async addUser(uid: string): Promise<void> {
    await this.#client.add(this.#user(uid), {
      objectClass: USER_CLASSES,
      cn: uid,
      sn: 'Written',
      givenName: uid,
      displayName: uid,
      uidNumber: '7',
      gidNumber: '7',
      homeDirectory: '/',
    });
  }

  async addGroup(cn: string): Promise<void> {
    await this.#client.add(this.#group(cn), { objectClass: GROUP_CLASSES });
  }

  /** Sets an attribute of a user to one value, which replaces all others. */
  async setUser(uid: string, attribute: string, value: string): Promise<void> {
    await this.#modify(this.#user(uid), ['replace', attribute, value]);
  }

  async renameUser(uid: string, to: string): Promise<void> {
    await this.#client.modifyDN(this.#user(uid), `uid=${to}`);
  }

  async deleteUser(uid: string): Promise<void> {
    await this.#client.del(this.#user(uid));
  }

  async deleteGroup(cn: string): Promise<void> {
    await this.#client.del(this.#group(cn));
  }

  /** The directory itself adds the group to the user's `memberOf`. */
  async addMember(cn: string, uid: string): Promise<void> {
    await this.#modify(this.#group(cn), ['add', 'member', this.#user(uid)]);
  }

  async removeMember(cn: string, uid: string): Promise<void> {
    await this.#modify(this.#group(cn), ['delete', 'member', this.#user(uid)]);
  }

  /** Puts a group into another, with everybody in it. */
  async nestGroup(cn: string, into: string): Promise<void> {
    await this.#modify(this.#group(into), ['add', 'member', this.#group(cn)]);
  }

  async close(): Promise<void> {
    await this.#client.unbind();
  }

  async #modify(
    dn: string,
    [operation, type, value]: readonly [
      'add' | 'delete' | 'replace',
      string,
      string,
    ],
  ): Promise<void> {
    await this.#client.modify(
      dn,
      new Change({
        operation,
        modification: new Attribute({ type, values: [value] }),
      }),
    );
  }

  #user(uid: string): string {
    return `uid=${uid},${this.#users}`;
  }

  #group(cn: string): string {
    return `cn=${cn},${this.#groups}`;
  }
}
