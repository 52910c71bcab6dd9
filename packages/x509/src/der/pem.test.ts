import { readPemBlocks } from './pem';
import { writePem } from './pem';

it('returns the blocks that have a given label', () => {
  const [one, two] = [Buffer.from('one'), Buffer.from('two')];
  const text = `${writePem('CERTIFICATE', one)}text\r\n${writePem(
    'PRIVATE KEY',
    two,
  )}${writePem('CERTIFICATE', two)}`;
  expect(
    readPemBlocks(text.replace(/\n/g, '\r\n'), { label: 'CERTIFICATE' }),
  ).toEqual([one, two]);
  expect(readPemBlocks(text, { label: 'X509 CRL' })).toEqual([]);
  expect(() =>
    readPemBlocks(text.slice(0, 40), { label: 'CERTIFICATE' }),
  ).toThrow(TypeError);
});
