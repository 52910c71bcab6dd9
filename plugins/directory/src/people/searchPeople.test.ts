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
});
