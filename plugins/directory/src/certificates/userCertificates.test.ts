import { certificateState, orderByExpiry } from './userCertificates';

const now = new Date('2026-03-15T12:00:00Z');
const past = 'Thu, 01 Jan 2026 00:00:00 -0000';

describe('certificateState', () => {
  it.each([
    ['valid', past, 'Wed, 15 Apr 2026 12:00:01 -0000'],
    ['expiring', past, 'Tue, 14 Apr 2026 11:59:59 -0000'],
    ['expired', past, 'Sun, 15 Mar 2026 11:59:59 -0000'],
    [
      'valid',
      'Sat, 14 Mar 2026 12:00:00 -0000',
      'Mon, 13 Apr 2026 12:00:00 -0000',
    ],
    [
      'expiring',
      'Sun, 22 Feb 2026 12:00:00 -0000',
      'Tue, 24 Mar 2026 12:00:00 -0000',
    ],
    [
      'notYet',
      'Mon, 16 Mar 2026 00:00:00 -0000',
      'Mon, 16 Mar 2027 00:00:00 -0000',
    ],
  ])('is %s', (state, valid_not_before, valid_not_after) => {
    const issued = { issued_here: true, valid_not_before, valid_not_after };
    const stateOf = (revoked: boolean, revocation_reason: number | null) =>
      certificateState({ ...issued, revoked, revocation_reason }, now);
    expect(stateOf(false, null)).toBe(state);
    expect(stateOf(true, 4)).toBe('revoked');
    expect(stateOf(true, 6)).toBe('hold');
    for (const [issued_here, other] of [
      [false, 'foreign'],
      [null, 'unchecked'],
    ] as const) {
      expect(
        certificateState(
          {
            ...issued,
            issued_here,
            revoked: false,
            revocation_reason: null,
          },
          now,
        ),
      ).toBe(other);
    }
  });
});

const until = (id: string, end: string, revoked = false) => ({
  id,
  revoked,
  revocation_reason: null,
  issued_here: true,
  valid_not_before: 'Thu, 01 Jan 2026 00:00:00 -0000',
  valid_not_after: `${end} 00:00:00 -0000`,
});

describe('orderByExpiry', () => {
  it('sorts by expiry and puts expired certificates last', () => {
    const ordered = orderByExpiry(
      [
        until('revoked', 'Thu, 01 Apr 2027', true),
        until('expired first', 'Mon, 02 Feb 2026'),
        until('last', 'Fri, 01 Jan 2027'),
        until('expired', 'Sun, 01 Mar 2026'),
        until('next', 'Wed, 01 Apr 2026'),
      ],
      now,
    );
    expect(ordered.map(({ id }) => id)).toEqual([
      ...['next', 'last', 'revoked', 'expired', 'expired first'],
    ]);
  });
});
