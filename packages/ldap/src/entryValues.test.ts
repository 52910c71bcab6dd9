import type { Entry } from 'ldapts';
import { booleanOf, textsOf, timeOf, valuesOf } from './entryValues';

const entry = (values: Record<string, string | string[]>): Entry => ({
  dn: 'uid=x',
  ...values,
});

describe('valuesOf', () => {
  it('ignores the case of attribute names and finds no other attributes', () => {
    const values = { fasTimezone: 'UTC', mail: ['a', 'b'], empty: [] };
    expect(textsOf(entry(values), 'fasTimeZone')).toEqual(['UTC']);
    expect(textsOf(entry(values), 'MAIL')).toEqual(['a', 'b']);
    expect(valuesOf(entry(values), 'empty')).toEqual([]);
    expect(valuesOf(entry(values), 'constructor')).toEqual([]);
  });
});

describe('booleanOf', () => {
  it.each([
    ['TRUE', true],
    ['true', true],
    ['FALSE', false],
  ])('reads %s', (text, value) => {
    expect(booleanOf(entry({ flag: text }), 'flag')).toBe(value);
  });

  it('returns undefined for an absent value', () => {
    expect(booleanOf(entry({}), 'flag')).toBeUndefined();
  });
});

describe('timeOf', () => {
  it.each([
    ['20200423101635Z', '2020-04-23T10:16:35.000Z'],
    ['20200423101635.123Z', '2020-04-23T10:16:35.000Z'],
    ['20200423101635+0200', '2020-04-23T08:16:35.000Z'],
    ['20200423101635-0530', '2020-04-23T15:46:35.000Z'],
    ['2020042310Z', '2020-04-23T10:00:00.000Z'],
    ['20200423101635', '2020-04-23T10:16:35.000Z'],
  ])('reads %s', (text, iso) => {
    expect(timeOf(entry({ time: text }), 'time')?.toISOString()).toBe(iso);
  });

  it.each(['', 'never', '2020-04-23'])('returns undefined for "%s"', text => {
    expect(timeOf(entry({ time: text }), 'time')).toBeUndefined();
  });
});
