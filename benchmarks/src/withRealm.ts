import { startRealm, type Realm } from '@directory-gateway/realm';
import { NegotiateCredentials } from './credentials/NegotiateCredentials';
import { DirectoryClient } from './DirectoryClient';
import { People } from './People';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';

/** A realm, and the data about it that the measurements need. */
export interface MeasuredRealm {
  readonly realm: Realm;
  readonly directory: DirectoryClient;
  readonly people: People;
  readonly tickets: NegotiateCredentials;
}

/** Starts a realm, calls `use` and stops the realm. */
export async function withRealm<T>(
  options: { readonly users: number; readonly signal: AbortSignal },
  use: (measured: MeasuredRealm) => Promise<T>,
): Promise<T> {
  const { users, signal } = options;
  const realm = await startRealm({ users, accessLog: 'buffered' });
  let directory: DirectoryClient | undefined;
  let tickets: NegotiateCredentials | undefined;
  try {
    signal.throwIfAborted();
    directory = await DirectoryClient.connect(realm);
    const people = await People.read(directory);
    tickets = await NegotiateCredentials.start({
      realm,
      usernames: selectCallers(people),
      cpus: [settings.portalCpu, settings.generatorCpu],
    });
    return await use({ realm, directory, people, tickets });
  } finally {
    await tickets?.stop();
    await directory?.close();
    await realm.stop();
  }
}

/** Selects users with a public profile, so that all get the same responses. */
function selectCallers(people: People): readonly string[] {
  const random = new SeededRandom(settings.seed);
  const able = people.all.filter(
    ({ locked, expires, isPrivate }) => !locked && !expires && !isPrivate,
  );
  const usernames = new Set<string>();
  while (usernames.size < Math.min(settings.callers, able.length)) {
    usernames.add(random.pick(able).username);
  }
  return [...usernames];
}
