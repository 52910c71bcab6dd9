import { createPublicKey } from 'node:crypto';
import { inspect } from 'node:util';
import {
  buildRequest,
  extension,
  extensionRequest,
  RequestParts,
  requestNames,
  subject,
} from '../__testUtils__/buildRequest';
import { outcomeOf, requestOf } from '../__testUtils__/outcomeOf';
import { readCertificateRequest } from './readCertificateRequest';
import { testKey } from '../__testUtils__/testKeys';
import {
  bits,
  FALSE,
  int,
  NULL,
  octets,
  oid,
  seq,
  set,
  text,
  tlv,
} from '../__testUtils__/tlv';

describe('readCertificateRequest', () => {
  it('parses DER, but does not parse the buffer of a returned request again', () => {
    const der = buildRequest({ key: testKey('P-256') });
    const first = requestOf(der);
    expect(readCertificateRequest(first.der)).toEqual({ ok: true, csr: first });
    expect(readCertificateRequest(Buffer.from(der))).toMatchObject({
      ok: true,
      csr: { publicKey: first.publicKey },
    });
    expect(readCertificateRequest(der.subarray(1))).toMatchObject({
      ok: false,
    });
  });

  it('returns the parts of a request', () => {
    const key = testKey('P-384');
    const der = buildRequest({
      key,
      subject: subject(
        ['2.5.4.10', 'EXAMPLE.TEST', 0x13],
        ['emailAddress', 'alice@example.test', 0x16],
        ['commonName', 'älice'],
      ),
      attributes: [
        extensionRequest(
          extension('basicConstraints', seq(), { critical: true }),
          extension('subjectAltName', seq(text(0x81, 'alice@example.test'))),
        ),
      ],
    });
    expect(requestOf(der)).toMatchObject({
      subject: {
        text: 'CN=älice,E=alice@example.test,O=EXAMPLE.TEST',
        commonNames: ['älice'],
        emailAddresses: ['alice@example.test'],
      },
      publicKey: {
        algorithm: 'ec',
        spki: key.spki,
      },
      alternativeNames: [{ kind: 'rfc822Name', value: 'alice@example.test' }],
      der,
    });
  });

  it('returns a deeply frozen request', () => {
    const request = requestOf(
      buildRequest({
        attributes: [requestNames(text(0x81, 'a@b'))],
      }),
    );
    const { subject: name, alternativeNames, publicKey } = request;
    for (const part of [
      request,
      publicKey,
      name,
      name.commonNames,
      name.emailAddresses,
      name.rdns,
      ...name.rdns,
      ...name.rdns.flat(),
      alternativeNames,
      ...alternativeNames,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('does not show attributes when a request is printed', () => {
    const challenge = seq(
      oid('1.2.840.113549.1.9.7'),
      set(text(0x0c, 'marked-secret')),
    );
    const request = requestOf(buildRequest({ attributes: [challenge] }));
    expect(request.der.toString('latin1')).toContain('marked-secret');
    const hex = Buffer.from('marked-secret').toString('hex');
    const printed = `${JSON.stringify(request)}${inspect(request, {
      depth: 9,
      showHidden: true,
    })}`;
    expect(printed).not.toMatch(
      new RegExp(`marked-secret|${hex}|${hex.match(/../g)?.join(' ')}`),
    );
  });

  it.each([
    ['no attributes', { attributes: Buffer.alloc(0) }],
    ['an empty list of extensions', { attributes: [extensionRequest()] }],
    [
      'an explicit default value',
      {
        attributes: [
          extensionRequest(
            seq(oid('basicConstraints'), FALSE, octets(seq(FALSE))),
          ),
        ],
      },
    ],
    [
      'known critical extensions',
      {
        attributes: [
          extensionRequest(
            extension('keyUsage', bits(Buffer.of(0x80), 7), { critical: true }),
            extension('extendedKeyUsage', seq(oid('1.3.6.1.5.5.7.3.2')), {
              critical: true,
            }),
          ),
        ],
      },
    ],
    ['an empty subject', { subject: seq() }],
  ])('accepts %s', (_, parts) => {
    expect(outcomeOf(buildRequest(parts))).toBe('read');
  });
});

describe('structure', () => {
  const good = buildRequest();
  it.each<[string, string, Buffer]>([
    [
      'private_key',
      'PKCS #8',
      testKey('rsa').privateKey.export({ type: 'pkcs8', format: 'der' }),
    ],
    [
      'private_key',
      'PKCS #1',
      testKey('rsa').privateKey.export({ type: 'pkcs1', format: 'der' }),
    ],
    [
      'private_key',
      'SEC 1',
      testKey('P-256').privateKey.export({ type: 'sec1', format: 'der' }),
    ],
    [
      'private_key',
      'PKCS #8, encrypted',
      testKey('rsa').privateKey.export({
        type: 'pkcs8',
        format: 'der',
        cipher: 'aes-256-cbc',
        passphrase: 'x',
      }),
    ],
    [
      'not_a_request',
      'a public key of PKCS #1',
      createPublicKey(testKey('rsa').privateKey).export({
        type: 'pkcs1',
        format: 'der',
      }),
    ],
    ['not_a_request', 'a public key', testKey('P-256').spki],
    ['not_a_request', 'an empty sequence', seq()],
    ['not_a_request', 'a string', octets(good)],
    ['not_a_request', 'a fourth field', seq(good.subarray(3), NULL)],
    ['trailing_data', 'the request twice', Buffer.concat([good, good])],
    [
      'malformed',
      'an indefinite length',
      Buffer.concat([Buffer.of(0x30, 0x80), good, Buffer.of(0, 0)]),
    ],
    ['malformed', 'a tag number above 30', Buffer.of(0x3f, 0x1f, 0)],
    [
      'malformed',
      'an arc with padding',
      seq(tlv(0x06, Buffer.of(0x2a, 0x80, 1))),
    ],
    [
      'too_complex',
      'too many values',
      seq(...Array.from({ length: 5000 }, () => NULL)),
    ],
  ])('returns %s for %s', (code, _, der) => {
    expect(outcomeOf(der)).toBe(code);
  });

  it.each<[string, string, RequestParts]>([
    ['bad_version', 'version 2', { version: int(2n) }],
    ['not_a_request', 'a version that is not a number', { version: NULL }],
    [
      'malformed',
      'a version with padding',
      { version: tlv(0x02, Buffer.of(0, 0)) },
    ],
    ['not_a_request', 'a key that is not a SEQUENCE', { spki: NULL }],
    [
      'not_a_request',
      'a fifth field',
      { attributes: Buffer.concat([tlv(0xa0), NULL]) },
    ],
    ['bad_attributes', 'attributes without their tag', { attributes: set() }],
    [
      'bad_attributes',
      'an attribute without a value',
      { attributes: [seq(oid('1.2.3'), set())] },
    ],
    [
      'bad_attributes',
      'an attribute without values',
      { attributes: [seq(oid('1.2.3'))] },
    ],
    [
      'bad_attributes',
      'too many attributes',
      {
        attributes: Array.from({ length: 33 }, (_, i) =>
          seq(oid(`1.2.${i}`), set(NULL)),
        ),
      },
    ],
    [
      'duplicate_attribute',
      'an attribute twice',
      {
        attributes: [
          seq(oid('1.2.3'), set(NULL)),
          seq(oid('1.2.3'), set(NULL)),
        ],
      },
    ],
    [
      'duplicate_attribute',
      'two lists of extensions',
      {
        attributes: [extensionRequest(), extensionRequest()],
      },
    ],
  ])('returns %s for %s', (code, _, parts) => {
    expect(outcomeOf(buildRequest(parts))).toBe(code);
  });
});
