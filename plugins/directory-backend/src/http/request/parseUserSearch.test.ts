import { parseParameters } from './ParameterErrors';
import { parseUserSearch } from './parseUserSearch';

const read = (query: string) =>
  parseParameters(errors =>
    parseUserSearch(new URLSearchParams(query), errors),
  );
/** All conditions of a search. */
const conditions = (query: string) => {
  const { where } = read(query);
  return where.kind === 'allOf' ? where.of : [where];
};
const refusal = (query: string) => {
  try {
    read(query);
  } catch (error) {
    return (error as { body: object }).body;
  }
  return undefined;
};
const groups = (count: number) =>
  Array.from({ length: count }, (_, index) => `group=g${index}`).join('&');

describe('parseUserSearch', () => {
  it.each([
    ['username=ali', { kind: 'substring', field: 'username', text: 'ali' }],
    ['ircnick=%23x%20', undefined],
    ['ircnick=abc', { kind: 'substring', field: 'ircnicks', text: 'abc' }],
    [
      'human_name=%20%20Ann%20%20%09Lee%20',
      { kind: 'substring', field: 'human_name', text: 'Ann Lee' },
    ],
    ['surname=日本語', { kind: 'substring', field: 'surname', text: '日本語' }],
    ['givenname=a*b', { kind: 'substring', field: 'givenname', text: 'a*b' }],
    ['username=*', { kind: 'present', field: 'username' }],
    [
      'human_name=%E5%B1%B1%E7%94%B0%E3%80%80%E5%A4%AA%E9%83%8E',
      { kind: 'substring', field: 'human_name', text: '山田\u3000太郎' },
    ],
    ['username__exact=a', { kind: 'equals', field: 'username', text: 'a' }],
    ['username__exact=*', { kind: 'present', field: 'username' }],
    ['email=a@b', { kind: 'equals', field: 'emails', text: 'a@b' }],
    ['email__exact=a@b', { kind: 'equals', field: 'emails', text: 'a@b' }],
    ['rssurl=*', { kind: 'present', field: 'rssurls' }],
    ['rhbzemail__exact=x', { kind: 'equals', field: 'rhbzemail', text: 'x' }],
    ['group=a', { kind: 'memberOf', groupname: 'a' }],
    [
      `key=SHA256%3A${'a'.repeat(43)}%3D`,
      {
        kind: 'publicKey',
        field: 'sshpubkeys',
        id: `SHA256:${'a'.repeat(43)}`,
      },
    ],
    [
      'key=0x0123%204567%2089ab%20cdef',
      { kind: 'publicKey', field: 'gpgkeyids', id: '0123456789ABCDEF' },
    ],
    ['group=*', { kind: 'memberOfAny' }],
    [
      'creation__before=2010-01-01T00:00:00-05:00',
      {
        kind: 'before',
        field: 'creation',
        time: new Date('2010-01-01T05:00:00Z'),
      },
    ],
    [
      'creation__after=2010-01-01',
      {
        kind: 'allOf',
        of: [
          { kind: 'present', field: 'creation' },
          {
            kind: 'not',
            of: {
              kind: 'before',
              field: 'creation',
              time: new Date('2010-01-01T00:00:00Z'),
            },
          },
        ],
      },
    ],
  ])('reads %s', (query, term) => {
    expect(refusal(query) ? undefined : conditions(query)[0]).toEqual(term);
  });

  it('combines all terms and groups', () => {
    const found = conditions('group=a&group=b&username=abc&email=x');
    expect(found).toHaveLength(4);
  });

  describe('group', () => {
    it('counts once when it is repeated in another case', () => {
      const repeated = 'group=Dev%20Ops&group=%20dev%20%20OPS&'.repeat(2000);
      expect(conditions(`${repeated}${groups(19)}`)).toHaveLength(20);
      expect(conditions(repeated)).toEqual([
        { kind: 'memberOf', groupname: 'Dev Ops' },
      ]);
    });

    it('is a term when it is blank', () => {
      expect(conditions('group=a&group=&group=%20%09')).toEqual([
        { kind: 'memberOf', groupname: 'a' },
        { kind: 'memberOf', groupname: '' },
      ]);
    });

    it('keeps names that only Unicode case folding makes equal', () => {
      expect(conditions('group=k&group=\u212a')).toHaveLength(2);
    });

    it('is rejected above 20 different names', () => {
      expect(conditions(groups(20))).toHaveLength(20);
      expect(refusal(`${groups(21)}&page_number=x&creation__before=y`)).toEqual(
        {
          message: 'Input payload validation failed',
          errors: {
            group: 'Group name. At most 20 different names are allowed.',
            page_number: expect.any(String),
            creation__before: expect.any(String),
          },
        },
      );
    });
  });

  it('reports unknown parameters together with malformed ones', () => {
    expect(
      refusal('username=abc&fullname=x&email__like=y&nick=z&page_number=0'),
    ).toEqual({
      message: 'Input payload validation failed',
      errors: {
        fullname: 'Unknown search parameter.',
        email__like: 'Unknown search parameter.',
        nick: 'Unknown search parameter.',
        page_number: expect.any(String),
      },
    });
  });

  it.each(['__proto__', 'constructor', 'group__exact', 'creation', ''])(
    'rejects the unknown parameter "%s"',
    name => {
      expect(JSON.stringify(refusal(`username=abc&${name}=x`))).toContain(
        `"errors":{"${name}":"Unknown search parameter."}`,
      );
    },
  );

  it('uses the first value of a repeated term', () => {
    expect(conditions('username=abc&username=xyz')).toEqual([
      { kind: 'substring', field: 'username', text: 'abc' },
    ]);
  });

  it.each(['', 'username=', 'email=%20', 'page_size=5'])(
    'requires a term: "%s"',
    query => {
      expect(refusal(query)).toEqual({
        message: 'At least one search term must be provided.',
      });
    },
  );

  it.each([
    ['username=al', 'username', 'al'],
    ['surname=%20%20ab%20', 'surname', 'ab'],
    ['givenname=%F0%9F%98%80%F0%9F%98%80', 'givenname', '😀😀'],
    ['human_name=**', 'human_name', '**'],
  ])('requires three characters: %s', (query, term, value) => {
    expect(refusal(query)).toEqual({
      message: 'Search term must be at least 3 characters long.',
      search_term: term,
      search_value: value,
    });
  });

  it.each([
    ['0', 0],
    ['41', 41],
    ['-1', -1],
    ['123', 123],
  ])('requires a page size of 1 to 40: %s', (text, size) => {
    expect(refusal(`username=abc&page_size=${text}`)).toEqual({
      message: 'Page size must be between 1 and 40 when searching.',
      page_size: size,
    });
  });

  it.each([
    'username=abc&page_size=x&page_number=0&creation__before=*',
    'username=al&page_size=x&page_number=0&creation__before=soon',
    'page_size=x&page_number=0&creation__before=2010-13-01',
  ])('reports all malformed parameters before other errors: %s', query => {
    expect(refusal(query)).toEqual({
      message: 'Input payload validation failed',
      errors: {
        page_size: expect.any(String),
        page_number: expect.any(String),
        creation__before: expect.any(String),
      },
    });
  });

  it.each([
    [
      'page_number=0&page_size=41',
      { message: 'Input payload validation failed' },
    ],
    [
      'username=al&page_size=41',
      { message: 'Page size must be between 1 and 40 when searching.' },
    ],
    ['username=al&surname=xy', { search_term: 'username', search_value: 'al' }],
    ['page_size=41', { page_size: 41 }],
  ])('reports the first kind of error of %s', (query, body) => {
    expect(refusal(query)).toMatchObject(body);
  });

  it.each([
    'page_size=x',
    'page_number=0',
    'creation__before=*',
    'creation__after=*',
    'creation__after=soon',
    'key=SHA256:a',
    'key=abc',
    'key=*',
  ])('names a malformed parameter: %s', query => {
    expect(refusal(`username=abc&${query}`)).toEqual({
      message: 'Input payload validation failed',
      errors: { [query.split('=')[0]]: expect.any(String) },
    });
  });
});
