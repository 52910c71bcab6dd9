import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realmLayout } from '../RealmLayout';

/** The temporary folders of a realm, none of which may outlive it. */
export class PrivateFolders {
  readonly #folders = new Set<string>();

  /** Makes one that only this process' account can enter. */
  async make(prefix: string, parent = tmpdir()): Promise<string> {
    const folder = await mkdtemp(join(await realpath(parent), prefix));
    this.#folders.add(folder);
    return folder;
  }

  /** Removes all, or all but one, with what a server in them left elsewhere. */
  async remove({ except }: { except?: string } = {}): Promise<void> {
    for (const folder of this.#folders) {
      if (folder !== except) {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
        await rm(realmLayout(folder).semaphore, { force: true });
        this.#folders.delete(folder);
      }
    }
  }
}
