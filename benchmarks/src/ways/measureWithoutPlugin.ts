import { TokenCredentials } from '../credentials/TokenCredentials';
import { ClosedLoop } from '../load/ClosedLoop';
import { Portal } from '../portal/Portal';
import type { DrawnRequest } from '../questions/Question';
import { settings } from '../settings';
import type { MeasuredRealm } from '../withRealm';
import type { WayResult } from './WayResult';

/**
 * What the server is asked that is there without the plugin, in turn: mostly
 * what costs nothing, and now and then a page of 40 with a token, so that its
 * garbage is of the kind that the plugin's requests make.
 */
const REQUESTS: readonly DrawnRequest[] = [
  { path: '/api/catalog/entities/by-query?limit=40', expected: ['"items"'] },
  ...Array(29).fill({
    path: '/.backstage/health/v1/readiness',
    expected: ['"ok"'],
  }),
];

/** Measures the memory of the same server without the directory plugin. */
export async function measureWithoutPlugin(
  { realm }: MeasuredRealm,
  options: {
    /** How many it is asked, as many as the others. */
    readonly requests: number;
    readonly signal: AbortSignal;
  },
): Promise<WayResult> {
  const { requests, signal } = options;
  const portal = await Portal.start({
    realm,
    variant: 'none',
    cpu: settings.portalCpu,
  });
  const loop = new ClosedLoop({
    origin: portal.origin,
    below: '',
    connections: settings.connections,
  });
  try {
    await portal.untilReady(signal);
    const memoryAtStart = await portal.memory();
    let asked = 0;
    const token = await portal.token();
    const credentials = new TokenCredentials({ token, username: 'alice' });
    await loop.run({
      credentials: {
        mode: 'token',
        usernames: credentials.usernames,
        prepare: () => credentials.prepare(),
        next: () => (asked < requests ? credentials.next() : undefined),
      },
      draw: () => REQUESTS[asked++ % REQUESTS.length],
      connections: settings.connections,
      ms: Infinity,
      signal,
    });
    const memoryAfterLoad = await portal.memory();
    return {
      variant: 'none',
      start: null,
      requests: loop.requests,
      ages: null,
      memoryAtStart,
      memoryAfterLoad,
    };
  } finally {
    await loop.close();
    await portal.stop();
  }
}
