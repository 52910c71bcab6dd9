import { startRealm, type Realm } from '@directory-gateway/realm';
import { NegotiateCredentials } from './credentials/NegotiateCredentials';
import { DirectoryClient } from './DirectoryClient';
import { People } from './People';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';

/** What portals are measured on. */
export interface MeasuredRealm {
  readonly realm: Realm;
  /** As the gateway has it. */
  readonly directory: DirectoryClient;
  readonly people: People;
  readonly tickets: NegotiateCredentials;
}

/**
 * Starts a realm and what makes tickets for it, hands them to `use` and ends
 * them, whatever happened.
 *
 * @throws Error when something does not start
 */
export async function withRealm<T>(
  options: { readonly users: number; readonly signal: AbortSignal },
  use: (measured: MeasuredRealm) => Promise<T>,
): Promise<T> {
  const { users, signal } = options;
  const endings: (() => Promise<unknown>)[] = [];
  try {
    const realm = await startRealm({ users, signal, accessLog: 'buffered' });
    endings.push(() => realm.stop());
    const directory = await DirectoryClient.connect(realm);
    endings.push(() => directory.close());
    const people = await People.read(directory);
    const tickets = await startTickets(realm, people);
    endings.push(() => tickets.stop());
    return await use({ realm, directory, people, tickets });
  } finally {
    for (const end of endings.reverse()) {
      await end();
    }
  }
}

/** Callers whose profile is public: to all of them the answers are the same. */
function startTickets(
  realm: Realm,
  people: People,
): Promise<NegotiateCredentials> {
  const random = new SeededRandom(settings.seed);
  const able = people.all.filter(
    ({ locked, isPrivate }) => !locked && !isPrivate,
  );
  const usernames = new Set<string>();
  while (usernames.size < Math.min(settings.callers, able.length)) {
    usernames.add(random.pick(able).username);
  }
  const cpus = [settings.portalCpu, settings.generatorCpu];
  return NegotiateCredentials.start({ realm, cpus, usernames: [...usernames] });
}
