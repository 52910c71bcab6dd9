import { findExposed } from './findExposed';

const redacted = { username: 'vera', is_private: true, human_name: null };

function exposedIn(result: unknown, caller = 'bob'): readonly string[] {
  return findExposed(JSON.stringify({ result }), caller);
}

describe('findExposed', () => {
  it('finds hidden fields of a private profile shown to another user', () => {
    const shown = { ...redacted, human_name: 'Vera', pronouns: ['she'] };
    expect(exposedIn([{ ...redacted }, shown])).toEqual([
      'vera.human_name',
      'vera.pronouns',
    ]);
    expect(exposedIn({ group: { members: [shown] } })).toHaveLength(2);
  });

  it("accepts the caller's profile and public fields", () => {
    const shown = { ...redacted, human_name: 'Vera' };
    expect(exposedIn(shown, 'vera')).toEqual([]);
    expect(exposedIn({ ...shown, is_private: false })).toEqual([]);
    expect(exposedIn({ ...redacted, emails: ['vera@example.test'] })).toEqual(
      [],
    );
  });

  it('finds nothing in a body that is not JSON', () => {
    expect(findExposed('username,human_name\nvera,Vera\n', 'bob')).toEqual([]);
  });
});
