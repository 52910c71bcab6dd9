import fc from 'fast-check';
import { SessionCookie } from './SessionCookie';

const cookie = new SessionCookie('https://portal.example.org/api/directory');
const { name } = cookie;

it.each([
  ['https://portal.example.org/api/directory', 'Path=/api/directory', true],
  [
    'https://portal.example.org/dir/api/directory/',
    'Path=/dir/api/directory',
    true,
  ],
  ['https://fasjson.example.org', 'Path=/', true],
  ['https://fasjson.example.org/fasjson', 'Path=/fasjson', true],
  ['http://localhost:7007/api/directory', 'Path=/api/directory', false],
])('sets the path of a cookie for %s', (url, path, isSecure) => {
  const header = new SessionCookie(url).write('a.b', { maxAgeSeconds: 840 });
  const [pair, ...attributes] = header.split('; ');
  expect(pair).toBe(`${isSecure ? '__Secure-' : ''}directory-session=a.b`);
  expect(attributes.sort()).toEqual(
    [
      ...['HttpOnly', 'SameSite=Strict', 'Max-Age=840', path],
      ...(isSecure ? ['Secure'] : []),
    ].sort(),
  );
});

it('finds the session cookie among other cookies', () => {
  expect(cookie.read(`${name}=abc`)).toBe('abc');
  expect(cookie.read(`a=b; ${name}=abc;c=d`)).toBe('abc');
  expect(cookie.read(`a=${'b'.repeat(10_000)}; ${name}=abc`)).toBe('abc');
  expect(cookie.read(`broken;  ${name} = abc ;=;;`)).toBe('abc');
});

it.each([
  undefined,
  '',
  'a=b',
  name,
  `${name.toLowerCase()}=abc`,
  `x${name}=abc`,
  `${name}x=abc`,
  `a=${name}`,
  `${name}=abc; ${name}=abc`,
  `${name}=abc; ${name}=`,
  `${name}=abc; x${name}=abc`,
  `directory-session=abc`,
  `${name}=abc; a=${'b'.repeat(16_384)}`,
])('does not find a session cookie in %s', header => {
  expect(cookie.read(header)).toBeUndefined();
});

it('reads cookies unchanged or ignores them', () => {
  const piece = fc.oneof(
    fc.constantFrom(name, '=', ';', ' ', '"', ',', '%3D', '__proto__', 'a'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      const header = pieces.join('');
      const value = cookie.read(header);
      expect(value === undefined || header.includes(value)).toBe(true);
    }),
  );
});
