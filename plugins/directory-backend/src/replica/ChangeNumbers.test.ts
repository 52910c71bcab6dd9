import { firstUnread, takenBack } from './ChangeNumbers';

const numbers = (listed: Record<string, number | undefined>) =>
  new Map(Object.entries(listed));
const listed = (changes: Record<string, number | undefined>, fromUsn = 10) => ({
  fromUsn,
  numbers: numbers(changes),
});

describe('firstUnread', () => {
  it.each([
    ['nothing was written', {}, {}, undefined],
    ['all was read', { a: 11, b: 12 }, { a: 11, b: 12 }, undefined],
    ['one is new', { a: 11, b: 12 }, { a: 11 }, 12],
    ['one was written again', { a: 13, b: 12 }, { a: 11, b: 12 }, 13],
    ['a lower number comes late', { a: 14, late: 11 }, { a: 14 }, 11],
    ['a number is older than what was read', { a: 11 }, { a: 14 }, 11],
    ['a number may not be read', { a: undefined, b: 14 }, { b: 14 }, 10],
    ['and still not', { a: undefined }, { a: undefined }, 10],
  ])('when %s', (_, now, before, first) => {
    expect(firstUnread(listed(now), numbers(before))).toBe(first);
  });
});

describe('takenBack', () => {
  it.each([
    ['all is there', { a: 11, b: 13 }, { a: 11, b: 12 }, []],
    ['one is not', { b: 12 }, { a: 11, b: 12 }, ['a']],
    ['one is too old to be listed', {}, { a: 9, b: 10 }, ['b']],
    ['a number may not be read', {}, { a: undefined }, []],
  ])('when %s', (_, now, before, keys) => {
    expect(takenBack(listed(now), numbers(before))).toEqual(keys);
  });
});
