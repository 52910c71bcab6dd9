import { UsnChanges, type UsnState } from './UsnChanges';

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
  changes.recordRead(usnsOf(seen), stateAt(20, 9));
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
    changes.recordRead(usnsOf({}), stateAt(30, 15));
    expect(changes.fromUsn).toBe(16);
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

  it('is complete while no USN is new', async () => {
    expect(await explainAt(100)).toBe(true);
    expect(listed).toEqual([]);
  });

  it('searches for USNs a second after they were assigned', async () => {
    carried = new Set([101, 102]);
    await explainAt(102);
    expect(listed).toEqual([]);
    expect(await explainAt(102)).toBe(true);
    expect(await explainAt(103)).toBe(true);
    expect(listed).toEqual([101]);
  });

  it('searches at most once a second', async () => {
    await explainAt(101);
    await explainAt(102);
    now += 999;
    await changes.explain(stateAt(103, 100), listUsns);
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
