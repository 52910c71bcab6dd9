import fc from 'fast-check';
import { JsonText, writeJson } from './json';

it('writes what JSON.stringify would, whatever is written already', () => {
  const written = fc
    .jsonValue({ stringUnit: 'binary' })
    .map(value => new JsonText(JSON.stringify(value)));
  const answers = fc.oneof(
    written,
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.record({ result: written, page: fc.nat() }),
    fc.record({
      result: fc.array(fc.oneof(written, fc.jsonValue())),
      next: fc.option(fc.string(), { nil: undefined }),
    }),
  );
  fc.assert(
    fc.property(answers, answer => {
      expect(writeJson(answer).toString()).toBe(JSON.stringify(answer));
    }),
  );
});

it('writes what is missing in a list as JSON does', () => {
  const list = [undefined, new JsonText('1')];
  expect(writeJson(list).toString()).toBe('[null,1]');
});
