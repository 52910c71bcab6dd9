import fc from 'fast-check';
import { schemaPreset } from '../directory/schema';
import type { Visibility } from '../directory/Visibility';
import { trustedDn } from './DistinguishedName';
import { userSearchFilter, type FilterTerm } from './userSearchFilter';

const everything: Visibility = { kind: 'everything' };
const alice: Visibility = {
  kind: 'public',
  hidden: new Set(['surname', 'github_username']),
  owner: 'alice',
};

function filterOf(
  terms: readonly FilterTerm[],
  visibleTo: Visibility = everything,
) {
  return userSearchFilter({
    terms,
    visibleTo,
    schema: schemaPreset('fas'),
    groupDn: name => (name === 'a' ? trustedDn('cn=a,cn=groups') : undefined),
  })?.toString();
}

describe('userSearchFilter', () => {
  it.each<[string, FilterTerm, string]>([
    [
      'substrings',
      { kind: 'substring', field: 'username', text: 'a*b' },
      '(&(uid=*a\\2ab*))',
    ],
    [
      'exact values',
      { kind: 'equals', field: 'emails', text: 'x)(uid=*' },
      '(&(mail=x\\29\\28uid=\\2a))',
    ],
    ['presence', { kind: 'present', field: 'rssurls' }, '(&(fasRssUrl=*))'],
    [
      'groups',
      { kind: 'memberOf', groupname: 'a' },
      '(&(memberOf=cn=a,cn=groups))',
    ],
    [
      'times, strictly before',
      {
        kind: 'before',
        field: 'creation',
        time: new Date('2010-01-02T03:04:05Z'),
      },
      '(&(&(fasCreationTime<=20100102030405Z)(!(fasCreationTime=20100102030405Z))))',
    ],
    [
      'times within a second',
      {
        kind: 'before',
        field: 'creation',
        time: new Date('2010-01-02T03:04:05.5Z'),
      },
      '(&(fasCreationTime<=20100102030405Z))',
    ],
    [
      'times after the last that can be written',
      {
        kind: 'before',
        field: 'creation',
        time: new Date('9999-12-31T23:59:59-01:00'),
      },
      '(&(fasCreationTime=*))',
    ],
  ])('asks for %s', (_what, term, filter) => {
    expect(filterOf([term])).toBe(filter);
  });

  it('matches nobody in an unknown group', () => {
    expect(filterOf([{ kind: 'memberOf', groupname: 'x' }])).toBeUndefined();
  });

  it.each(['equals', 'substring'] as const)(
    'matches nobody by what %s a text with NUL, which the server cuts off',
    kind => {
      const term: FilterTerm = { kind, field: 'username', text: 'alice\0' };
      expect(filterOf([term])).toBeUndefined();
    },
  );

  it('does not let a hidden field find a private profile', () => {
    expect(
      filterOf([{ kind: 'equals', field: 'surname', text: 'x' }], alice),
    ).toBe('(&(&(sn=x)(|(!(fasIsPrivate=TRUE))(uid=alice))))');
    expect(
      filterOf([{ kind: 'equals', field: 'emails', text: 'x' }], alice),
    ).toBe('(&(mail=x))');
  });

  it('keeps any text within its value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), typed => {
        const text = typed.replaceAll('\0', '');
        const filter = filterOf([{ kind: 'equals', field: 'emails', text }])!;
        const value = filter.slice('(&(mail='.length, -2);
        expect(value).not.toMatch(/[()*\0]/);
      }),
    );
  });
});
