import { chown, copyFile, rename, stat } from 'node:fs/promises';
import { ProcessOwner, findAccount } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';
import { ENCRYPTION, HTTP_SERVICE, kdcEnvironment } from './createKdc';

/** Changes the key of HTTP/localhost, as an administrator does. */
export class ServiceKeys {
  readonly #layout: RealmLayout;

  constructor(layout: RealmLayout) {
    this.#layout = layout;
  }

  /** Creates a key in the KDC and adds it to the keytab. */
  async rotate(): Promise<void> {
    await this.#changeKeytab(keytab => [
      'ktadd',
      '-k',
      keytab,
      '-e',
      ENCRYPTION,
      HTTP_SERVICE,
    ]);
  }

  /** Removes all keys except the newest from the keytab. */
  async removeOld(): Promise<void> {
    await this.#changeKeytab(keytab => [
      'ktremove',
      '-k',
      keytab,
      HTTP_SERVICE,
      'old',
    ]);
  }

  /**
   * Changes a copy of the keytab with kadmin, and replaces the keytab with it.
   */
  async #changeKeytab(command: (copy: string) => string[]): Promise<void> {
    const { httpKeytab } = this.#layout;
    const copy = `${httpKeytab}.new`;
    const { uid, gid } = await stat(httpKeytab);
    await copyFile(httpKeytab, copy);
    await chown(copy, uid, gid);
    await new ProcessOwner().run({
      program: 'kadmin.local',
      args: ['-r', REALM, ...command(copy)],
      env: kdcEnvironment(this.#layout),
      account: await findAccount(),
    });
    await rename(copy, httpKeytab);
  }
}
