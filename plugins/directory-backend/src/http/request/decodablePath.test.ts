import fc from 'fast-check';
import { decodablePath } from './decodablePath';

describe('decodablePath', () => {
  it.each([
    ['/v1/users/alice/?a=%ff', '/v1/users/alice/?a=%ff'],
    ['/v1/users/%61lice/', '/v1/users/%61lice/'],
    ['/v1/users/%ff/', '/v1/users/%25ff/'],
    ['/v1/users/%zz/groups/', '/v1/users/%25zz/groups/'],
    ['/v1/users/%', '/v1/users/%25'],
    ['/v1/users/a%2Fb/', '/v1/users/a%2Fb/'],
    ['/v1/?a=1?b=2', '/v1/?a=1?b=2'],
  ])('makes %s into %s', (url, decodable) => {
    expect(decodablePath(url)).toBe(decodable);
  });

  it('gives a path that decodes, with the query as it was', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[%a-f0-9/]{0,20}$/),
        fc.option(fc.stringMatching(/^[%a-f0-9?=&]{0,10}$/), {
          nil: undefined,
        }),
        (path, query) => {
          const url = query === undefined ? path : `${path}?${query}`;
          const [decodable, ...rest] = decodablePath(url).split('?');
          expect(() => decodeURIComponent(decodable)).not.toThrow();
          expect(rest.join('?')).toBe(query ?? '');
        },
      ),
    );
  });
});
