import { type FieldCondition, visitPredicate } from './predicates';
import { closestFirst, similarTo } from './textSearch';

const fields = { words: ['name'], whole: ['email'] } as const;

type Condition = FieldCondition<'name' | 'email'>;

/** The kinds and texts of the conditions of each tier. */
const tiers = (text: string) =>
  closestFirst(text, fields).map(tier =>
    visitPredicate<Condition, readonly string[]>(tier, {
      condition: condition => {
        const value = 'word' in condition ? condition.word : text;
        return [`${condition.kind} ${value}`];
      },
      allOf: parts => parts.flat(),
      anyOf: parts => parts.flat(),
      not: part => part,
    }).join(', '),
  );

describe('closestFirst', () => {
  it.each([
    [
      'Liddell, Alice',
      [
        'equals Liddell, Alice',
        'wordPrefix liddell, wordPrefix alice',
        'wordPart liddell, wordPart alice',
      ],
    ],
    ['Al Liddell', ['equals Al Liddell', 'wordPrefix al, wordPrefix liddell']],
    ['al', ['equals al']],
    ['...', ['equals ...']],
    ['林', ['equals 林', 'wordPrefix 林', 'wordPart 林']],
    ['山田', ['equals 山田', 'wordPrefix 山田', 'wordPart 山田']],
    [
      '山田太',
      [
        'equals 山田太',
        'wordPrefix 山, wordPrefix 田, wordPrefix 太',
        'wordPart 山, wordPart 田, wordPart 太',
      ],
    ],
    [
      'マイケル',
      ['equals マイケル', 'wordPrefix マイケル', 'wordPart マイケル'],
    ],
  ])('searches for %j', (text, expected) => {
    expect(tiers(text)).toEqual(expected);
  });

  it('ranks the words of other fields after those of names', () => {
    const group = { words: ['name'], moreWords: ['email'], whole: ['name'] };
    expect(closestFirst('packa', group)).toEqual([
      { kind: 'anyOf', of: [{ kind: 'equals', field: 'name', text: 'packa' }] },
      ...[['name'], ['name', 'email']].flatMap(searched =>
        ['wordPrefix', 'wordPart'].map(kind => ({
          kind: 'allOf',
          of: [
            {
              kind: 'anyOf',
              of: searched.map(field => ({ kind, field, word: 'packa' })),
            },
          ],
        })),
      ),
    ]);
  });

  it('compares at most eight words', () => {
    const text = Array.from({ length: 100 }, (_, n) => `word${n}`).join(' ');
    expect(tiers(text)[1]?.match(/wordPrefix/g)).toHaveLength(8);
  });
});

describe('similarTo', () => {
  it('compares words of at least four letters, and the beginning of others', () => {
    expect(similarTo('Lidell Al', fields.words)).toEqual({
      kind: 'allOf',
      of: [
        {
          kind: 'anyOf',
          of: [{ kind: 'similarWord', field: 'name', word: 'lidell' }],
        },
        {
          kind: 'anyOf',
          of: [{ kind: 'wordPrefix', field: 'name', word: 'al' }],
        },
      ],
    });
  });

  it('compares the first three words', () => {
    const names = ['abcd', 'bcde', 'cdef', 'defg'];
    const similar = JSON.stringify(similarTo(names.join(' '), fields.words));
    expect(names.map(name => similar.includes(name))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('matches nothing without such a word', () => {
    expect(similarTo('al', fields.words)).toEqual({ kind: 'anyOf', of: [] });
  });
});
