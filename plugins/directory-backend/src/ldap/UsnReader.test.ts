import { UsnReader } from './UsnReader';
import type { LdapReader } from './LdapReader';
import type { LdapSearchResult } from './connection/LdapPool';

const SERVER = 'ldaps://one.example.test';

/** Creates a reader for which the test sets the response and the time. */
function readerOf(start: {
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
  const usnReader = new UsnReader({ reader });
  /** Applies a change, advances the clock and reads the USN. */
  const after = (
    ms: number,
    change: { readonly lastusn?: string; readonly server?: string } = {},
  ) => {
    Object.assign(state, change);
    state.at += ms;
    return usnReader.read();
  };
  return { usnReader, state, after };
}

afterEach(() => jest.restoreAllMocks());

describe('UsnReader', () => {
  it.each(['lastusn;userroot', 'lastusn'])(
    'reads the last USN from %s',
    async attribute => {
      const { after } = readerOf({ lastusn: '5000', attribute });
      expect(await after(0)).toMatchObject({ server: SERVER, usn: 5000 });
    },
  );

  it('returns no USN when the server has no USN plugin', async () => {
    const { after } = readerOf({});
    const first = await after(0);
    expect([first.usn, first.committedUsn]).toEqual([undefined, undefined]);
  });

  it('commits nothing of a server that was restored from a backup', async () => {
    const { after } = readerOf({ lastusn: '5000' });
    await after(0);
    expect(await after(30_000, { lastusn: '4999' })).toMatchObject({
      usn: 4999,
      committedUsn: 3999,
    });
  });

  it('keeps the samples of a server that responds again', async () => {
    const other = 'ldaps://two.example.test';
    const { after } = readerOf({ lastusn: '5000' });
    await after(0);
    expect(
      await after(30_000, { server: other, lastusn: '7000' }),
    ).toMatchObject({ server: other, committedUsn: 6000 });
    expect(
      await after(1000, { server: SERVER, lastusn: '8000' }),
    ).toMatchObject({ server: SERVER, committedUsn: 5000 });
  });

  it('treats a USN as committed 20 seconds after it was read', async () => {
    const { after } = readerOf({ lastusn: '5000' });
    const committed = async (ms: number, lastusn: string) =>
      (await after(ms, { lastusn })).committedUsn;
    // 1,000 writes may be in progress at the first read.
    expect(await committed(0, '5000')).toBe(4000);
    expect(await committed(10_000, '5500')).toBe(4000);
    expect(await committed(9_999, '6000')).toBe(4000);
    expect(await committed(10_001, '6500')).toBe(5500);
    expect(await committed(60_000, '6500')).toBe(6500);
  });

  it('treats a USN as replicated 10 minutes after it was read', async () => {
    const { after } = readerOf({ lastusn: '5000' });
    const replicated = async (ms: number, lastusn: string) =>
      (await after(ms, { lastusn })).replicatedUsn;
    expect(await replicated(0, '5000')).toBe(4000);
    expect(await replicated(300_000, '5500')).toBe(4000);
    expect(await replicated(299_500, '6000')).toBe(4000);
    expect(await replicated(500, '6500')).toBe(5000);
    expect(await replicated(300_000, '6500')).toBe(5500);
    expect(await after(1_000)).toMatchObject({ committedUsn: 6500 });
  });

  it('never returns a negative committed USN', async () => {
    const { after } = readerOf({ lastusn: '10' });
    expect(await after(0)).toMatchObject({ usn: 10, committedUsn: 0 });
  });

  it('searches at most every 250 milliseconds', async () => {
    const { state, after } = readerOf({ lastusn: '5000' });
    await after(0);
    expect(await after(249, { lastusn: '6000' })).toMatchObject({ usn: 5000 });
    expect(state.searches).toBe(1);
    expect(await after(1)).toMatchObject({ usn: 6000, requestedAt: state.at });
    expect(state.searches).toBe(2);
  });

  it('searches once for concurrent callers', async () => {
    const { usnReader, state } = readerOf({ lastusn: '5000' });
    const times = await Promise.all([1, 2, 3].map(() => usnReader.read()));
    expect(new Set(times).size).toBe(1);
    expect(state.searches).toBe(1);
  });
});
