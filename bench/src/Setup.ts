import { startRealm, type Realm } from '@directory-gateway/realm';
import { resolve } from 'node:path';
import { ClosedLoop } from './ClosedLoop';
import type { Credentials } from './Credentials';
import { DirectoryClient } from './DirectoryClient';
import { NegotiateCredentials } from './NegotiateCredentials';
import { People } from './People';
import { Portal } from './Portal';
import type { BenchOptions } from './readOptions';
import { SeededRandom } from './SeededRandom';
import { settings } from './settings';
import { TokenCredentials } from './TokenCredentials';

/** Whom app-config.bench.yaml signs in as a guest. */
export const GUEST = 'alice';

/** Everything that a run is measured with. */
export interface Setup {
  readonly directory: DirectoryClient;
  readonly people: People;
  readonly portal: Portal;
  readonly credentials: readonly Credentials[];
  readonly loop: ClosedLoop;
}

/**
 * Starts a realm, a portal and what asks them, hands them to `use` and ends
 * them in the opposite order, whatever happened.
 *
 * @throws Error when something does not start
 */
export async function withSetup<T>(
  options: BenchOptions & { readonly signal: AbortSignal },
  use: (setup: Setup) => Promise<T>,
): Promise<T> {
  const { users, reads, signal, profileTo } = options;
  const endings: (() => Promise<unknown>)[] = [];
  try {
    const realm = await startRealm({ users, signal, accessLog: 'buffered' });
    endings.push(() => realm.stop());
    const directory = await DirectoryClient.connect(realm);
    endings.push(() => directory.close());
    const people = await People.read(directory);
    const portal = await Portal.start({
      ...{ realm, reads, signal, cpu: settings.portalCpu },
      profileTo: profileTo && resolve(profileTo),
    });
    endings.push(() => portal.stop());
    const negotiate = await startNegotiate(realm, people);
    endings.push(() => negotiate.stop());
    const token = new TokenCredentials({
      token: await portal.token(),
      username: GUEST,
    });
    const loop = new ClosedLoop({
      origin: portal.origin,
      connections: settings.connections,
    });
    endings.push(() => loop.close());
    const credentials = [negotiate, token];
    return await use({ directory, people, portal, credentials, loop });
  } finally {
    for (const end of endings.reverse()) {
      await end();
    }
  }
}

/** Callers whose profile is public: to all of them the answers are the same. */
function startNegotiate(
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
