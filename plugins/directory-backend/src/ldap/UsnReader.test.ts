import { UsnReader } from './UsnReader';
import type { LdapReader } from './LdapReader';
import type { LdapSearchResult } from './connection/LdapPool';

const SERVER = 'ldaps://one.example.test';

/** A clock on a server whose response and time the test sets. */
function clockOn(start: {
  readonly lastusn?: string;
  readonly attribute?: string;
}) {
  const state = { ...start, server: SERVER, at: 1_000_000, searches: 0 };
  jest.spyOn(performance, 'now').mockImplementation(() => state.at);
  const reader: Pick<LdapReader, 'search'> = {
    search: async (): Promise<LdapSearchResult> => {
      state.searches++;
      const { lastusn, attribute = 'lastusn;userroot', server } = state;
      const values = lastusn === undefined ? {} : { [attribute]: lastusn };
      return { entries: [{ dn: '', ...values }], server };
    },
  };
  const clock = new UsnReader({ reader: reader as LdapReader });
  /** Reads the clock after some milliseconds. */
  const after = (
    ms: number,
    change: { readonly lastusn?: string; readonly server?: string } = {},
  ) => {
    Object.assign(state, change);
    state.at += ms;
    return clock.now();
  };
  return { clock, state, after };
}

afterEach(() => jest.restoreAllMocks());

describe('UsnReader', () => {
  it.each(['lastusn;userroot', 'lastusn'])(
    'reads the last USN from %s',
    async attribute => {
      const { after } = clockOn({ lastusn: '5000', attribute });
      expect(await after(0)).toMatchObject({ server: SERVER, usn: 5000 });
    },
  );

  it('returns no USN when the server has no USN plugin', async () => {
    const { after } = clockOn({});
    const first = await after(0);
    expect([first.usn, first.committedUsn]).toEqual([undefined, undefined]);
    expect(await after(30_000)).toMatchObject({ epoch: first.epoch });
  });

  it('stays in its epoch while the USN of a server grows', async () => {
    const { after } = clockOn({ lastusn: '5000' });
    const { epoch } = await after(0);
    expect(await after(1000)).toMatchObject({ epoch, usn: 5000 });
    expect(await after(1000, { lastusn: '9000' })).toMatchObject({
      epoch,
      usn: 9000,
    });
  });

  it('starts an epoch when a server of the same name has a lower USN', async () => {
    const { after } = clockOn({ lastusn: '5000' });
    const { epoch } = await after(0);
    const restored = await after(1000, { lastusn: '4999' });
    expect(restored.epoch).not.toBe(epoch);
    // Nothing that was read before is committed on this server.
    expect(restored.committedUsn).toBe(3999);
    expect(await after(1000, { lastusn: '5000' })).toMatchObject({
      epoch: restored.epoch,
    });
  });

  it('has an epoch for each server, which continues', async () => {
    const other = 'ldaps://two.example.test';
    const { after } = clockOn({ lastusn: '5000' });
    const first = await after(0);
    const second = await after(1000, { server: other, lastusn: '7000' });
    const third = await after(1000, { server: SERVER, lastusn: '8000' });
    expect([second.server, third.server]).toEqual([other, SERVER]);
    expect(second.epoch).not.toBe(first.epoch);
    expect(third.epoch).toBe(first.epoch);
  });

  it('takes a USN as committed 20 seconds after it was read', async () => {
    const { after } = clockOn({ lastusn: '5000' });
    const settled = async (ms: number, lastusn: string) =>
      (await after(ms, { lastusn })).committedUsn;
    // 1,000 writes may be under way when a server is first asked.
    expect(await settled(0, '5000')).toBe(4000);
    expect(await settled(10_000, '5500')).toBe(4000);
    expect(await settled(9_999, '6000')).toBe(4000);
    expect(await settled(10_001, '6500')).toBe(5500);
    expect(await settled(60_000, '6500')).toBe(6500);
  });

  it('takes no negative USN as committed', async () => {
    const { after } = clockOn({ lastusn: '10' });
    expect(await after(0)).toMatchObject({ usn: 10, committedUsn: 0 });
  });

  it('asks the server at most every 250 milliseconds', async () => {
    const { state, after } = clockOn({ lastusn: '5000' });
    await after(0);
    expect(await after(249, { lastusn: '6000' })).toMatchObject({ usn: 5000 });
    expect(state.searches).toBe(1);
    expect(await after(1)).toMatchObject({ usn: 6000, requestedAt: state.at });
    expect(state.searches).toBe(2);
  });

  it('asks the server once for concurrent callers', async () => {
    const { clock, state } = clockOn({ lastusn: '5000' });
    const times = await Promise.all([1, 2, 3].map(() => clock.now()));
    expect(new Set(times).size).toBe(1);
    expect(state.searches).toBe(1);
  });
});
