import {
  copyFile,
  readFile,
  rename,
  stat,
  chown,
  writeFile,
} from 'node:fs/promises';
import { findAccount } from '../processes/Account';
import { ProcessOwner } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';
import { ENCRYPTION, HTTP_SERVICE } from './createKdc';
import { Keytab } from './Keytab';
import { kdcEnvironment } from './krb5Config';

/** Changes the key of HTTP/localhost, as an administrator does now and then. */
export class ServiceKeys {
  readonly #layout: RealmLayout;
  readonly #programs = new ProcessOwner();

  constructor(layout: RealmLayout) {
    this.#layout = layout;
  }

  /** A new key in the KDC, and in the keytab beside the old ones. */
  async rotate(): Promise<void> {
    await this.#replace(async keytab => {
      await this.#programs.run({
        program: 'kadmin.local',
        args: [
          '-r',
          REALM,
          'ktadd',
          '-k',
          keytab,
          '-e',
          ENCRYPTION,
          HTTP_SERVICE,
        ],
        env: kdcEnvironment(this.#layout),
        account: await findAccount(),
      });
    });
  }

  /** Drops every key but the newest from the keytab. */
  async removeOld(): Promise<void> {
    await this.#replace(async keytab => {
      const newest = Keytab.parse(await readFile(keytab)).newest();
      await writeFile(keytab, newest.toBuffer());
    });
  }

  /** Readers see the old file or the new one, never half of one. */
  async #replace(change: (copy: string) => Promise<void>): Promise<void> {
    const { httpKeytab } = this.#layout;
    const copy = `${httpKeytab}.new`;
    const { uid, gid } = await stat(httpKeytab);
    await copyFile(httpKeytab, copy);
    await chown(copy, uid, gid);
    await change(copy);
    await rename(copy, httpKeytab);
  }
}
