import { generateKeyPairSync, KeyObject } from 'node:crypto';
import { buildRequest } from '../__testUtils__/buildRequest';
import { outcomeOf } from '../__testUtils__/outcomeOf';
import { testKey } from '../__testUtils__/testKeys';
import { bits, NULL, octets, oid, seq } from '../__testUtils__/tlv';

describe('keys of other types', () => {
  it.each<[string, string, Buffer]>([
    ['unsupported_key', 'Ed448', testKey('ed448').spki],
    ['unsupported_key', 'X25519', spkiOf(generateKeyPairSync('x25519'))],
    [
      'unsupported_key',
      'DSA',
      spkiOf(
        generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }),
      ),
    ],
    [
      'malformed_key',
      'RSA without parameters',
      withAlgorithm('rsa', seq(oid('rsaEncryption'))),
    ],
    [
      'malformed_key',
      'Ed25519 with parameters',
      withAlgorithm('ed25519', seq(oid('ed25519'), NULL)),
    ],
    [
      'malformed_key',
      'two parameters',
      withAlgorithm('rsa', seq(oid('rsaEncryption'), NULL, NULL)),
    ],
    [
      'malformed_key',
      'a third field',
      seq(seq(oid('ed25519')), bits(Buffer.alloc(32)), NULL),
    ],
    [
      'malformed_key',
      'unused bits',
      seq(seq(oid('ed25519')), bits(Buffer.alloc(32), 1)),
    ],
    [
      'malformed_key',
      'a key that is not a BIT STRING',
      seq(seq(oid('ed25519')), octets(Buffer.alloc(32))),
    ],
  ])('are %s: %s', (code, _, spki) => {
    expect(outcomeOf(buildRequest({ spki }))).toBe(code);
  });

  function spkiOf(pair: { publicKey: KeyObject }): Buffer {
    return pair.publicKey.export({ type: 'spki', format: 'der' });
  }

  function withAlgorithm(kind: 'rsa' | 'ed25519', algorithm: Buffer): Buffer {
    const length = kind === 'rsa' ? 270 : 32;
    return seq(algorithm, bits(testKey(kind).spki.subarray(-length)));
  }
});
