import { orderByEnd } from './orderByEnd';

const now = new Date('2026-03-15T12:00:00Z');

const until = (id: string, end: string, revoked = false) => ({
  id,
  revoked,
  issued_here: true,
  valid_not_before: 'Thu, 01 Jan 2026 00:00:00 -0000',
  valid_not_after: `${end} 00:00:00 -0000`,
});

describe('orderByEnd', () => {
  it('has what ends next at the top, and what is gone at the bottom', () => {
    const ordered = orderByEnd(
      [
        until('revoked', 'Thu, 01 Apr 2027', true),
        until('over long since', 'Mon, 02 Feb 2026'),
        until('last', 'Fri, 01 Jan 2027'),
        until('over', 'Sun, 01 Mar 2026'),
        until('next', 'Wed, 01 Apr 2026'),
      ],
      now,
    );
    expect(ordered.map(({ id }) => id)).toEqual([
      ...['next', 'last', 'revoked', 'over', 'over long since'],
    ]);
  });
});
