import { presentOnce } from './json';
import { writeJson } from './json';

const whole = ['name', 'mail'];

it('presents a record once, and another anew', () => {
  const present = jest.fn((record: { name: string }) => ({ ...record }));
  const once = presentOnce(whole, present);
  const alice = { name: 'alice' };
  expect(writeJson(once(alice, whole)).toString()).toBe('{"name":"alice"}');
  expect(once(alice, whole)).toBe(once(alice, whole));
  expect(present).toHaveBeenCalledTimes(1);
  // Equal, but hidden from or changed since: another record.
  once({ name: 'alice' }, whole);
  expect(present).toHaveBeenCalledTimes(2);
});

it('presents under a mask each time, even if it names all keys', () => {
  const once = presentOnce(whole, (record: { name: string }, keys) => ({
    [keys[0]]: record.name,
  }));
  const alice = { name: 'alice' };
  once(alice, whole);
  expect(once(alice, ['mail', 'name'])).toEqual({ mail: 'alice' });
});
