import { parseSerial } from './Serial';

const LONG = 340282366920938463463374607431768211455n;

describe('parseSerial', () => {
  it.each([
    ['12', 12n],
    [' 340282366920938463463374607431768211455 ', LONG],
    ['0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF', LONG],
    ['ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff', LONG],
    ['serial=0A1B', 0x0a1bn],
    ['0x12', 0x12n],
    ['0', 0n],
  ])('parses %s without losing digits', (text, serial) => {
    expect(parseSerial(text)).toBe(serial);
  });

  it.each(['', '-1', '1.5', 'alice', '0x', '12:3', `1${'0'.repeat(60)}`])(
    'rejects “%s”',
    text => {
      expect(parseSerial(text)).toBeUndefined();
    },
  );
});
