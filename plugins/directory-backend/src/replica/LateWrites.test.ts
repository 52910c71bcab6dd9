import { LateWrites } from './LateWrites';

const at = (seconds: number, usn: number | undefined, era = 1) => ({
  ...{ server: 'ldap://one', era, usn, settledUsn: usn },
  askedAt: seconds * 1000,
});

/** What is due at looks, one a second from 1 on. */
function dueOf(numbers: readonly number[], late = new LateWrites()) {
  return numbers.map((usn, index) => late.dueAt(at(index + 1, usn)));
}

it('has nothing read again where nothing is written', () => {
  const due = dueOf(Array(100).fill(7));
  expect(due.filter(each => each !== undefined)).toEqual([]);
});

it('has a write read again for twenty seconds, every ten', () => {
  const due = dueOf([7, 7, 8, ...Array(60).fill(8)]);
  const seconds = due.flatMap((each, index) =>
    each === undefined ? [] : [index + 1],
  );
  expect(seconds).toEqual([11, 21]);
  expect(new Set(due)).toEqual(new Set([undefined, 7]));
});

it('reads from twenty seconds ago, not from the beginning', () => {
  const due = dueOf(Array.from({ length: 100 }, (_, second) => second));
  expect(due[90]).toBe(70);
});

it('knows nothing of another server, nor of one that does not count', () => {
  const late = new LateWrites();
  dueOf([1, 2, 3, 4], late);
  expect(late.dueAt(at(60, 900, 2))).toBeUndefined();
  expect(late.dueAt(at(70, 900, 2))).toBeUndefined();
  expect(late.dueAt(at(80, undefined))).toBeUndefined();
});
