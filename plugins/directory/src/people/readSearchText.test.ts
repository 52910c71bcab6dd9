import { readSearchText } from './readSearchText';

const WORD = [
  'username',
  'human_name',
  'ircnick',
  'github_username',
  'gitlab_username',
];

function termsOf(text: string, wide = false) {
  const plan = readSearchText(text, wide);
  return plan.kind === 'search'
    ? plan.terms.map(({ field, value }) => `${field}=${value}`)
    : plan.kind;
}

describe('readSearchText', () => {
  it.each([
    ['', 'nothing'],
    ['   ', 'nothing'],
    ['ka', 'tooShort'],
    ['🦊🦊', 'tooShort'],
    ['nick: ka', 'tooShort'],
    ['karl', WORD.map(field => `${field}=karl`)],
    ['  karl ', WORD.map(field => `${field}=karl`)],
    ['日本語', WORD.map(field => `${field}=日本語`)],
    ['Karl   Larsson', ['human_name=Karl Larsson']],
    [
      'karl@example.org',
      ['email=karl@example.org', 'rhbzemail=karl@example.org'],
    ],
    ['@karl', WORD.map(field => `${field}=karl`)],
    ['@ka', ['github_username=ka', 'gitlab_username=ka']],
    ['@karl:example.org', ['ircnick=/karl']],
    ['irc:/karl', ['ircnick=irc:/karl']],
    ['matrix://example.org/karl', ['ircnick=matrix://example.org/karl']],
    ['https://github.com/karlp/', ['github_username=karlp']],
    ['https://www.gitlab.com/karlp', ['gitlab_username=karlp']],
    [
      'https://karl.example.org/',
      ['website=https://karl.example.org/', 'rssurl=https://karl.example.org/'],
    ],
    ['github: karlp', ['github_username=karlp']],
    ['GitHub:karlp', ['github_username=karlp']],
    ['nick: karlp', ['ircnick=karlp']],
    ['mail: a@b', ['email=a@b', 'rhbzemail=a@b']],
    // Not a known prefix: searched as it is.
    ['talk: karl', ['human_name=talk: karl']],
  ])('parses "%s"', (text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  it('adds fields when widened, in the same order', () => {
    expect(termsOf('karl', true)).toEqual(
      [...WORD, 'givenname', 'surname'].map(field => `${field}=karl`),
    );
    expect(termsOf('Karl Larsson', true)).toEqual([
      'human_name=Karl Larsson',
      'ircnick=Karl Larsson',
      'givenname=Karl Larsson',
      'surname=Karl Larsson',
    ]);
    expect(termsOf('karl@example.org', true)).toEqual(
      expect.arrayContaining(['email=karl@example.org', 'username=karl']),
    );
  });

  it('reports whether widening adds fields', () => {
    expect(readSearchText('github: karlp', false)).toMatchObject({
      canWiden: false,
    });
    expect(readSearchText('karl', false)).toMatchObject({ canWiden: true });
    expect(readSearchText('karl', true)).toMatchObject({
      canWiden: false,
    });
  });
});
