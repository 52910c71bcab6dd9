import type { Difference } from './AnswerComparison';
import { formatDifference } from './formatDifference';
import type { Round } from './Round';

const CALL = { path: '/groups/', mask: 'groupname', username: 'alice' };

function ok(text: string) {
  return { status: 200, text };
}

function roundOf(copy: string, direct: string): Round {
  return {
    ...{ usn: '7', askedAt: 3000, copy: ok(copy), direct: ok(direct) },
    lastWrite: { beganAt: 1500, endedAt: 1600 },
  };
}

function tell(difference: Partial<Difference> & { readonly first: Round }) {
  return formatDifference(CALL, {
    ...{ kind: 'late', ms: 1234, verdict: undefined },
    ...difference,
  }).split('; ');
}

describe('formatDifference', () => {
  it('tells of a question about which LDAP was not asked', () => {
    expect(tell({ first: roundOf('one, two', 'one, 2') })).toEqual([
      'late: /groups/ for alice (groupname)',
      'copy 200 "one, two"',
      'direct 200 "one, 2"',
      'LDAP was not asked',
      'the last write began 1500 ms before, ended 1400 ms before',
      'seen to have ended 1234 ms after it was asked',
    ]);
  });

  it('tells who said what LDAP says', () => {
    const first = roundOf('one', 'two');
    const verdict = { kind: 'directLate', rounds: [first] } as const;
    const said = (text: string) =>
      tell({
        ...{ kind: 'directLate', first },
        verdict: { ...verdict, truth: { usn: '7', answer: ok(text) } },
      })[3];
    expect([said('one'), said('two'), said('three')]).toEqual([
      'LDAP as the copy',
      'LDAP as direct reads',
      'LDAP 200 "three"',
    ]);
  });

  it('tells of the answer that was wrong, not of those before', () => {
    const first = roundOf('zero', 'two');
    const wrong = roundOf('one', 'two');
    const [, copy, , ldap, , end] = tell({
      ...{ kind: 'wrong', ms: undefined, first },
      verdict: {
        ...{ kind: 'wrong', rounds: [first, wrong] },
        truth: { usn: '7', answer: ok('two') },
      },
    });
    expect([copy, ldap, end]).toEqual([
      'copy 200 "one"',
      'LDAP as direct reads',
      'did not end while it was waited for',
    ]);
  });

  it('says when LDAP was asked only after further writes', () => {
    const verdict = { kind: 'late', rounds: [roundOf('two', 'two')] } as const;
    const lines = tell({
      first: roundOf('one', 'two'),
      verdict: { ...verdict, truth: { usn: '7', answer: ok('two') } },
    });
    expect([lines[1], lines[3]]).toEqual([
      'copy 200 "one"',
      'later LDAP as direct reads',
    ]);
  });

  it('shows some of what stands around the first difference', () => {
    const same = 'x'.repeat(1000);
    const [, copy] = tell({ first: roundOf(`${same}a`, `${same}b`) });
    expect(copy).toMatch(/^copy 200 "x{120}a"$/);
  });
});
