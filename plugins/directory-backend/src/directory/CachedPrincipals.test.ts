import { setTimeout as sleep } from 'node:timers/promises';
import { CachedPrincipals } from './CachedPrincipals';

describe('CachedPrincipals', () => {
  let now: number;
  let locked: boolean;
  let principals: CachedPrincipals;

  beforeEach(() => {
    now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    locked = false;
    principals = new CachedPrincipals({
      find: async () => ({
        dn: 'uid=alice',
        kind: 'user',
        username: 'alice',
        served: true,
        principalNames: [],
        emails: [],
        locked,
        groups: new Set(),
      }),
    });
  });
  afterEach(() => jest.restoreAllMocks());

  /** Looks up alice after some milliseconds. */
  async function findAfter(ms: number) {
    now += ms;
    // The cache reads the clock once per millisecond of real time.
    await sleep(10);
    return principals.find({ username: 'alice' });
  }

  it('returns a lock after at most five seconds', async () => {
    expect(await findAfter(0)).toMatchObject({ locked: false });
    locked = true;
    expect(await findAfter(3900)).toMatchObject({ locked: false });
    expect(await findAfter(1000)).toMatchObject({ locked: true });
  });
});
