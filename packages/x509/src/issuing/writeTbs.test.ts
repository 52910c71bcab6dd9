import { randomSerialNumber } from './writeTbs';

it('returns different serial numbers of 127 bits', () => {
  const numbers = Array.from({ length: 2000 }, randomSerialNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
  const all = numbers.reduce((union, number) => union | number, 0n);
  const common = numbers.reduce(
    (intersection, number) => intersection & number,
  );
  expect([all, common]).toEqual([2n ** 127n - 1n, 0n]);
});
