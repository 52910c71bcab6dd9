import type { LdapReader } from './LdapReader';
import type { LdapSearchResult } from './connection/LdapPool';
import { UsnChanges, UsnReader, type UsnState } from './usns';

const SERVER = 'ldaps://one.example.test';

/** Creates a reader for which the test sets the response and the time. */
function readerOf(start: {
  readonly lastusn?: string;
  readonly attribute?: string;
}) {
  const state = { ...start, server: SERVER, at: 1_000_000 };
  jest.spyOn(performance, 'now').mockImplementation(() => state.at);
  const reader: Pick<LdapReader, 'search'> = {
    search: async (): Promise<LdapSearchResult> => {
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
  return { after };
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
});

const usnsOf = (usns: Record<string, number | undefined>) =>
  new Map(Object.entries(usns));

const stateAt = (usn: number, committedUsn: number): UsnState => ({
  server: 'ldap://one',
  usn,
  committedUsn,
});

/** Returns changes of which some, after USN 9, were read. */
function changesAfter(seen: Record<string, number | undefined>): UsnChanges {
  const changes = new UsnChanges(stateAt(9, 9));
  const read = usnsOf(seen);
  changes.recordRead(read, { read, to: stateAt(20, 9) });
  return changes;
}

describe('UsnChanges.firstUnseen', () => {
  it.each([
    ['no entry was written', {}, {}, undefined],
    ['all writes were read', { a: 11, b: 12 }, { a: 11, b: 12 }, undefined],
    ['one is new', { a: 11, b: 12 }, { a: 11 }, 12],
    ['one was written again', { a: 13, b: 12 }, { a: 11, b: 12 }, 13],
    ['a lower USN becomes visible late', { a: 14, late: 11 }, { a: 14 }, 11],
    ['a USN is lower than the one that was read', { a: 11 }, { a: 14 }, 11],
    ['a USN is not readable', { a: undefined, b: 14 }, { b: 14 }, 10],
    [
      'the same USN is still not readable',
      { a: undefined },
      { a: undefined },
      10,
    ],
  ])('returns the lowest unread USN when %s', (_, now, before, first) => {
    expect(changesAfter(before).firstUnseen(usnsOf(now))).toBe(first);
  });

  it('lists uncommitted writes again', () => {
    const changes = changesAfter({});
    expect(changes.fromUsn).toBe(10);
    const read = usnsOf({});
    changes.recordRead(read, { read, to: stateAt(30, 15) });
    expect(changes.fromUsn).toBe(16);
  });

  it.each([
    ['missed', {}],
    ['returned as of an earlier write', { a: 10 }],
  ])('returns the USN of an entry that was %s', (_, read) => {
    const changes = changesAfter({ b: 12 });
    const listed = usnsOf({ a: 13, b: 12 });
    changes.recordRead(listed, { read: usnsOf(read), to: stateAt(20, 9) });
    expect(changes.firstUnseen(listed)).toBe(13);
  });
});

describe('UsnChanges.noLongerListed', () => {
  it.each([
    ['all entries are listed', { a: 11, b: 13 }, { a: 11, b: 12 }, []],
    ['one entry is not listed', { b: 12 }, { a: 11, b: 12 }, ['a']],
    ['one entry is too old to be listed', {}, { a: 9, b: 10 }, ['b']],
    ['a USN is not readable', {}, { a: undefined }, []],
  ])('returns stable IDs when %s', (_, now, before, ids) => {
    expect(changesAfter(before).noLongerListed(usnsOf(now))).toEqual(ids);
  });
});

describe('UsnChanges.explain', () => {
  let now: number;
  let changes: UsnChanges;
  /** USNs that readable entries carry. */
  let carried: Set<number>;
  const listed: number[] = [];
  const listUsns = async (from: number): Promise<ReadonlySet<number>> => {
    listed.push(from);
    return carried;
  };

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    carried = new Set();
    listed.length = 0;
    changes = new UsnChanges(stateAt(100, 100));
  });
  afterEach(() => jest.restoreAllMocks());

  /** Explains after a second, in which writes become visible. */
  const explainAt = (usn: number, committedUsn = 100) => {
    now += 1000;
    return changes.explain(stateAt(usn, committedUsn), listUsns);
  };

  it('searches for USNs a second after they were assigned', async () => {
    carried = new Set([101, 102]);
    await explainAt(102);
    expect(listed).toEqual([]);
    expect(await explainAt(102)).toBe(true);
    expect(await explainAt(103)).toBe(true);
    expect(listed).toEqual([101]);
  });

  it('is not complete until a comparison that follows the commit', async () => {
    carried = new Set([101, 103]);
    await explainAt(103);
    expect(await explainAt(103)).toBe(false);
    changes.recordComparison(stateAt(103, 101));
    expect(await explainAt(103)).toBe(false);
    changes.recordComparison(stateAt(103, 102));
    expect(await explainAt(103)).toBe(true);
  });

  it('is not complete after a failed search', async () => {
    carried = new Set([101]);
    await explainAt(101);
    now += 1000;
    const failing = changes.explain(stateAt(101, 100), async () => {
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await explainAt(101)).toBe(false);
  });

  it('does not search for more than 1,000 USNs', async () => {
    await explainAt(1101);
    expect(await explainAt(1101)).toBe(false);
    expect(listed).toEqual([]);
  });
});
