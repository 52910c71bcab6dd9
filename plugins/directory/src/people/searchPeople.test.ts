import { person } from '../__testUtils__/people';
import type { SearchField } from './peopleQuery';
import { mergeMatches } from './searchPeople';

const karl = person({
  username: 'karl',
  human_name: 'Karl Larsson',
  ircnicks: ['irc:/other', 'irc:/KARLP'],
});
const karla = person({ username: 'karla', human_name: 'Someone Else' });
const hidden = person({ username: 'x', github_username: null });

function answer(field: SearchField, people: (typeof karl)[], total?: number) {
  return {
    term: { field, value: 'karl' },
    page: { people, total: total ?? people.length },
  };
}

describe('mergeMatches', () => {
  it('lists each user once, under the first matching field, with all matches', () => {
    const { sections, count, isExact } = mergeMatches([
      answer('username', [karl, karla]),
      answer('human_name', [karl]),
      answer('ircnick', [karl]),
    ]);

    expect(sections.map(({ people }) => people.length)).toEqual([2, 0, 0]);
    expect(sections.map(({ shownAbove }) => shownAbove)).toEqual([0, 1, 1]);
    expect(sections[0].people[0].matches).toEqual([
      { field: 'username', text: 'karl', value: 'karl' },
      { field: 'human_name', text: 'karl', value: 'Karl Larsson' },
      { field: 'ircnick', text: 'karl', value: 'irc:/KARLP' },
    ]);
    expect({ count, isExact }).toEqual({ count: 2, isExact: true });
  });

  it('counts only people on the returned pages', () => {
    const merged = mergeMatches([
      answer('username', [karl], 30),
      answer('human_name', [karla], 12),
    ]);
    expect(merged).toMatchObject({ count: 30, isExact: false });
  });

  it('keeps the results of other fields when one fails', () => {
    const error = new Error('slow');
    const { sections, isExact } = mergeMatches([
      answer('username', [karl]),
      { term: { field: 'github_username', value: 'karl' }, error },
    ]);
    expect(sections[1]).toMatchObject({ people: [], total: 0, error });
    expect(isExact).toBe(false);
  });

  it('accepts a match in a hidden value', () => {
    const { sections } = mergeMatches([answer('github_username', [hidden])]);
    expect(sections[0].people[0].matches[0].value).toBe('');
  });
});
