import { readSearchText } from './readSearchText';

const WORD = [
  'username',
  'human_name',
  'ircnick',
  'github_username',
  'gitlab_username',
];

function ask(text: string, wide = false) {
  const plan = readSearchText(text, { wide });
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
    // Not a prefix that stands for a field: it is looked for as it is.
    ['talk: karl', ['human_name=talk: karl']],
  ])('understands "%s"', (text, asked) => {
    expect(ask(text)).toEqual(asked);
  });

  it('looks into more fields when widened, in the same order', () => {
    expect(ask('karl', true)).toEqual(
      [...WORD, 'givenname', 'surname'].map(field => `${field}=karl`),
    );
    expect(ask('Karl Larsson', true)).toEqual([
      'human_name=Karl Larsson',
      'ircnick=Karl Larsson',
      'givenname=Karl Larsson',
      'surname=Karl Larsson',
    ]);
    expect(ask('karl@example.org', true)).toEqual(
      expect.arrayContaining(['email=karl@example.org', 'username=karl']),
    );
  });

  it('knows where widening would change nothing', () => {
    expect(readSearchText('github: karlp')).toMatchObject({ canWiden: false });
    expect(readSearchText('karl')).toMatchObject({ canWiden: true });
    expect(readSearchText('karl', { wide: true })).toMatchObject({
      canWiden: false,
    });
  });
});
