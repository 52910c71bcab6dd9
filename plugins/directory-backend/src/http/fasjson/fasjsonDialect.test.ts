import { ConfigReader } from '@backstage/config';
import { parseParameters } from '../request/ParameterErrors';
import { fasjsonDialects } from './fasjsonDialect';

const BASE_URL = 'https://portal.example.org/api/directory';

const dialectsOf = (fasjson: { enabled: boolean; baseUrl?: string }) =>
  fasjsonDialects(new ConfigReader({ directory: { fasjson } }), BASE_URL);

describe('fasjsonDialects', () => {
  it('returns no dialect unless it is enabled', () => {
    expect(fasjsonDialects(new ConfigReader({}), BASE_URL)).toEqual([]);
    expect(dialectsOf({ enabled: false })).toEqual([]);
  });

  it('returns a dialect below the plugin or at the configured URL', () => {
    const baseUrl = 'https://fasjson.example.org/';
    const [below] = dialectsOf({ enabled: true });
    const [proxied] = dialectsOf({ enabled: true, baseUrl });
    expect(below.uris.user('alice')).toBe(
      `${BASE_URL}/fasjson/v1/users/alice/`,
    );
    expect(proxied.uris.user('alice')).toBe(`${baseUrl}v1/users/alice/`);
  });

  it.each(['http://fasjson.example.org', 'fasjson.example.org', 'ftp://x'])(
    'rejects the base URL %s',
    baseUrl => {
      expect(() => dialectsOf({ enabled: true, baseUrl })).toThrow(
        'directory.fasjson.baseUrl',
      );
    },
  );
});

describe('user search', () => {
  const [dialect] = dialectsOf({ enabled: true });
  const conditions = (query: string) => {
    const { where } = parseParameters(errors =>
      dialect.readUserSearch(new URLSearchParams(query), errors),
    );
    return where.kind === 'allOf' ? where.of : [where];
  };
  const groups = (count: number) =>
    Array.from({ length: count }, (_, index) => `group=g${index}`).join('&');

  it('counts a group once when it is repeated in another case', () => {
    const repeated = 'group=Dev%20Ops&group=%20dev%20%20OPS&'.repeat(2000);
    expect(conditions(`${repeated}${groups(19)}`)).toHaveLength(20);
    expect(conditions('group=k&group=\u212a')).toHaveLength(2);
  });

  it('rejects more than 20 different groups', () => {
    expect(conditions(groups(20))).toHaveLength(20);
    expect(() => conditions(groups(21))).toThrow();
  });

  it.each([
    'fullname=x',
    'github_username__exact=x',
    'gitlab_username__exact=x',
    'rhbzemail__exact=x',
    'website__exact=x',
    'rssurl__exact=x',
  ])('ignores the unknown parameter %s', parameter => {
    expect(conditions(`username=abc&${parameter}`)).toHaveLength(1);
    expect(() => conditions(parameter)).toThrow(
      'At least one search term must be provided.',
    );
  });

  it('accepts email__exact', () => {
    expect(conditions('email__exact=a@b')).toEqual([
      { kind: 'equals', field: 'emails', text: 'a@b' },
    ]);
  });
});
