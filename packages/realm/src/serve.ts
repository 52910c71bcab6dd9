import { rename, rm, writeFile } from 'node:fs/promises';
import type { Realm } from './Realm';
import type { RealmOptions } from './RealmOptions';
import { startRealm } from './startRealm';
import { environmentText } from './environmentText';
import { onEndingSignal } from './onEndingSignal';

export interface ServeOptions extends RealmOptions {
  /** Where to write the environment, in one step and once the realm is ready. */
  envFile?: string;
}

/**
 * Runs a realm in the foreground until a signal, or until it ends by itself.
 *
 * @returns the exit status: 0 after a signal, also one while starting
 */
export async function serve({
  envFile,
  ...options
}: ServeOptions): Promise<number> {
  const ending = new AbortController();
  onEndingSignal(() => ending.abort());
  let realm: Realm;
  try {
    realm = await startRealm({ ...options, signal: ending.signal });
  } catch (error) {
    if (ending.signal.aborted) {
      return 0;
    }
    throw error;
  }
  try {
    const text = environmentText(realm);
    if (envFile) {
      await writeFile(`${envFile}.new`, text, { mode: 0o600 });
      await rename(`${envFile}.new`, envFile);
    }
    process.stdout.write(text);
    await Promise.race([realm.ended(), aborted(ending.signal)]);
  } finally {
    await realm.stop();
    if (envFile) {
      await rm(envFile, { force: true });
    }
  }
  return ending.signal.aborted ? 0 : 1;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise(resolve => {
      signal.addEventListener('abort', resolve, { once: true });
    });
  }
}
