import { karl, person } from '../__testUtils__/people';
import { otherMatches } from './searchPeople';

describe('otherMatches', () => {
  it('returns the fields that match', () => {
    expect(otherMatches(karl, 'karlp')).toEqual([
      { field: 'ircnick', value: 'irc://irc.libera.chat/karlp' },
      { field: 'github_username', value: 'karlp' },
    ]);
  });

  it('omits words that the names already contain', () => {
    expect(otherMatches(karl, 'Larsson, karl')).toEqual([]);
  });

  it('matches a maiden name without accents', () => {
    const ana = person({ username: 'ana', surname: 'Muñoz' });
    expect(otherMatches(ana, 'ana munoz')).toEqual([
      { field: 'surname', value: 'Muñoz' },
    ]);
  });

  it('returns only the e-mail address that was searched for', () => {
    const ana = person({
      username: 'ana',
      emails: ['ana@example.test', 'ana@lab.example.test'],
      websites: ['https://ana.example.test/'],
    });
    expect(otherMatches(ana, 'ana@lab.example.test')).toEqual([
      { field: 'email', value: 'ana@lab.example.test' },
    ]);
  });
});
