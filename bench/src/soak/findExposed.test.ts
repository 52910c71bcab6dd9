import { findExposed } from './findExposed';

const veiled = { username: 'vera', is_private: true, human_name: null };

function exposedIn(result: unknown, caller = 'bob'): readonly string[] {
  return findExposed(JSON.stringify({ result }), caller);
}

describe('findExposed', () => {
  it('finds what a private profile shows to somebody else', () => {
    const shown = { ...veiled, human_name: 'Vera', pronouns: ['she'] };
    expect(exposedIn([{ ...veiled }, shown])).toEqual([
      ...['vera.human_name', 'vera.pronouns'],
    ]);
    expect(exposedIn({ group: { members: [shown] } })).toHaveLength(2);
  });

  it('lets owners see their own, and everybody what is public', () => {
    const shown = { ...veiled, human_name: 'Vera' };
    expect(exposedIn(shown, 'vera')).toEqual([]);
    expect(exposedIn({ ...shown, is_private: false })).toEqual([]);
    expect(exposedIn({ ...veiled, emails: ['vera@example.test'] })).toEqual([]);
  });

  it('judges nothing that is no JSON', () => {
    expect(findExposed('username,human_name\nvera,Vera\n', 'bob')).toEqual([]);
  });
});
