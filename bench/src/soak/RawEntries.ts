/* eslint-disable no-restricted-imports, @backstage/no-forbidden-package-imports, @backstage/no-mixed-plugin-imports -- what the tests hold adapters against is what the soak holds answers against */
import {
  dumpEntries,
  type DumpedEntry,
} from '@directory-gateway/backstage-plugin-directory-backend/src/__testUtils__/naive/DumpedEntry';
import type { Realm } from '@directory-gateway/realm';
import { Client, type Entry } from 'ldapts';
import { readFile } from 'node:fs/promises';

const TIMEOUT_MS = 60_000;
const MEMBER_OF = 'cn=MemberOf Plugin,cn=plugins,cn=config';
const REFERENCES =
  'cn=referential integrity postoperation,cn=plugins,cn=config';

/**
 * A realm's directory as its administrator sees it, whom no access control
 * concerns: read by LDAP, with nothing of the gateway in between.
 */
export class RawEntries {
  readonly #realm: Realm;
  readonly #client: Client;

  private constructor(realm: Realm, client: Client) {
    this.#realm = realm;
    this.#client = client;
  }

  /**
   * @throws Error when the directory corrects entries after it has answered a
   * write: that would be a write whose time nobody knows
   */
  static async connect(realm: Realm): Promise<RawEntries> {
    const client = new Client({
      url: realm.ldapUrl,
      timeout: TIMEOUT_MS,
      connectTimeout: TIMEOUT_MS,
    });
    const password = await readFile(realm.rootPasswordFile, 'utf8');
    await client.bind(realm.rootDn, password.trim());
    const entries = new RawEntries(realm, client);
    await entries.#requirePromptPlugins();
    return entries;
  }

  /**
   * The number of the last write to the directory, whoever made it (389
   * Directory Server, USN plug-in): the same twice means that nothing was
   * written in between.
   */
  async lastUsn(): Promise<string> {
    return String((await this.#base('', 'lastusn')).lastusn);
  }

  /** Every entry, as it is now. */
  async read(): Promise<readonly DumpedEntry[]> {
    return dumpEntries(this.#realm);
  }

  async close(): Promise<void> {
    await this.#client.unbind();
  }

  /**
   * Both plug-ins that change other entries than the one that is written work
   * in its transaction (`betxn`), before the answer, unless told to do it
   * later.
   */
  async #requirePromptPlugins(): Promise<void> {
    const memberOf = await this.#base(
      MEMBER_OF,
      ...['nsslapd-pluginType', 'memberOfDeferredUpdate'],
    );
    const references = await this.#base(
      REFERENCES,
      ...['nsslapd-pluginType', 'referint-update-delay'],
    );
    const isPrompt =
      memberOf['nsslapd-pluginType'] === 'betxnpostoperation' &&
      memberOf.memberOfDeferredUpdate !== 'on' &&
      references['nsslapd-pluginType'] === 'betxnpostoperation' &&
      references['referint-update-delay'] === '0';
    if (!isPrompt) {
      throw new Error(
        `The directory's plug-ins write later than they answer: ${JSON.stringify(
          [memberOf, references],
        )}`,
      );
    }
  }

  async #base(dn: string, ...attributes: readonly string[]): Promise<Entry> {
    const { searchEntries } = await this.#client.search(dn, {
      scope: 'base',
      attributes: [...attributes],
    });
    return searchEntries[0];
  }
}
