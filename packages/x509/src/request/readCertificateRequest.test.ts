import { createPublicKey, generateKeyPairSync, KeyObject } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import {
  buildRequest,
  extension,
  extensionRequest,
  nameAttribute,
  RequestParts,
  requestNames,
  subject,
} from '../__testUtils__/buildRequest';
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
  TRUE,
} from '../__testUtils__/tlv';
import { writePem } from '../armor/writePem';
import { CertificateRequest } from './CertificateRequest';
import { readCertificateRequest } from './readCertificateRequest';

function read(der: Buffer) {
  return readCertificateRequest(writePem('CERTIFICATE REQUEST', der));
}

/** `read`, or the code of the refusal. */
function outcome(parts: RequestParts): string {
  const result = read(buildRequest(parts));
  return result.ok ? 'read' : result.code;
}

function expectRead(parts: RequestParts): CertificateRequest {
  const result = read(buildRequest(parts));
  if (!result.ok) {
    throw new Error(result.message);
  }
  return result.request;
}

describe('a request that is in order', () => {
  it('is read to its parts', () => {
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
    const result = read(der);
    expect(result).toMatchObject({
      ok: true,
      request: {
        subject: {
          text: 'CN=älice,E=alice@example.test,O=EXAMPLE.TEST',
          commonNames: ['älice'],
          emailAddresses: ['alice@example.test'],
        },
        publicKey: {
          algorithm: 'ec',
          curve: 'P-384',
          bits: 384,
          spki: key.spki,
        },
        alternativeNames: [{ kind: 'rfc822Name', value: 'alice@example.test' }],
        extensions: [
          { oid: '2.5.29.19', critical: true },
          { oid: '2.5.29.17', critical: false },
        ],
        der,
      },
    });
  });

  it('cannot be changed by those who got it', () => {
    const request = expectRead({
      attributes: [requestNames(text(0x81, 'a@b'))],
    });
    const { subject: name, alternativeNames, extensions, publicKey } = request;
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
      extensions,
      ...extensions,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('shows none of its attributes when it is printed', () => {
    const challenge = seq(
      oid('1.2.840.113549.1.9.7'),
      set(text(0x0c, 'marked-secret')),
    );
    const request = expectRead({ attributes: [challenge] });
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
    ['no attributes at all', { attributes: Buffer.alloc(0) }],
    ['an empty list of extensions', { attributes: [extensionRequest()] }],
    [
      'no extension value but a spelled-out default',
      {
        attributes: [
          extensionRequest(
            seq(oid('basicConstraints'), FALSE, octets(seq(FALSE))),
          ),
        ],
      },
    ],
    [
      'critical extensions that everybody knows',
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
  ])('may have %s', (_, parts) => {
    expect(outcome(parts)).toBe('read');
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
    ['not_a_request', 'a fourth part', seq(good.subarray(3), NULL)],
    ['trailing_data', 'a byte more', Buffer.concat([good, Buffer.of(0)])],
    ['trailing_data', 'itself again', Buffer.concat([good, good])],
    [
      'malformed',
      'an indefinite length',
      Buffer.concat([Buffer.of(0x30, 0x80), good, Buffer.of(0, 0)]),
    ],
    [
      'malformed',
      'a length that overflows',
      Buffer.of(0x30, 0x88, 0, 0, 0, 0, 0, 0, 0, 2, 5, 0),
    ],
    ['malformed', 'a tag number above 30', Buffer.of(0x3f, 0x1f, 0)],
    [
      'malformed',
      'an arc with padding',
      seq(tlv(0x06, Buffer.of(0x2a, 0x80, 1))),
    ],
    [
      'too_complex',
      'a deep nest',
      Array.from({ length: 40 }).reduce<Buffer>(nested => seq(nested), NULL),
    ],
    [
      'too_complex',
      'very many values',
      seq(...Array.from({ length: 5000 }, () => NULL)),
    ],
  ])('is %s with %s', (code, _, der) => {
    const result = read(der);
    expect(result.ok ? 'read' : result.code).toBe(code);
  });

  it.each<[string, string, RequestParts]>([
    ['bad_version', 'version 2', { version: int(2n) }],
    ['not_a_request', 'a version that is no number', { version: NULL }],
    [
      'malformed',
      'a version with padding',
      { version: tlv(0x02, Buffer.of(0, 0)) },
    ],
    ['not_a_request', 'a key that is no structure', { spki: NULL }],
    [
      'not_a_request',
      'a fifth part',
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
      'an attribute that is no pair',
      { attributes: [seq(oid('1.2.3'))] },
    ],
    [
      'bad_attributes',
      'very many attributes',
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
    [
      'bad_attributes',
      'a list of extensions with two values',
      {
        attributes: [seq(oid('extensionRequest'), set(seq(), seq()))],
      },
    ],
  ])('is %s with %s', (code, _, parts) => {
    expect(outcome(parts)).toBe(code);
  });
});

describe('subject', () => {
  it.each<[string, string, Buffer]>([
    ['bad_subject', 'no sequence', set()],
    ['bad_subject', 'an empty relative name', seq(set())],
    [
      'bad_subject',
      'an attribute of three',
      seq(set(seq(oid('commonName'), text(0x0c, 'a'), NULL))),
    ],
    [
      'subject_string_type',
      'TeletexString',
      subject(['commonName', 'alice', 0x14]),
    ],
    [
      'subject_string_type',
      'UniversalString',
      subject(['commonName', '\0\0\0a', 0x1c]),
    ],
    [
      'subject_string_type',
      'BMPString',
      subject(['commonName', '\0a\0l', 0x1e]),
    ],
    [
      'subject_string_type',
      'IA5String',
      subject(['commonName', 'alice', 0x16]),
    ],
    [
      'subject_string_type',
      'VisibleString',
      subject(['commonName', 'alice', 0x1a]),
    ],
    [
      'subject_string_type',
      'GeneralString',
      subject(['commonName', 'alice', 0x1b]),
    ],
    [
      'subject_string_type',
      'OCTET STRING',
      subject(['commonName', 'alice', 0x04]),
    ],
    ['subject_characters', 'nothing', subject(['commonName', ''])],
    ['subject_characters', 'NUL', subject(['commonName', 'bob\0alice'])],
    [
      'subject_characters',
      'a line end elsewhere',
      subject(['commonName', 'alice'], ['2.5.4.10', 'a\nb']),
    ],
    [
      'subject_characters',
      'a C1 control',
      subject(['commonName', 'alice\u0085']),
    ],
    [
      'malformed',
      'bytes that are no UTF-8',
      seq(set(seq(oid('commonName'), tlv(0x0c, Buffer.of(0xff))))),
    ],
    [
      'malformed',
      'an overlong form',
      seq(set(seq(oid('commonName'), tlv(0x0c, Buffer.of(0xc1, 0xa1))))),
    ],
    [
      'malformed',
      'a surrogate',
      seq(set(seq(oid('commonName'), tlv(0x0c, Buffer.of(0xed, 0xa0, 0x80))))),
    ],
    [
      'subject_characters',
      'no PrintableString',
      subject(['commonName', 'alice@x', 0x13]),
    ],
    [
      'subject_too_long',
      '8 KiB of text',
      subject(['commonName', 'a'.repeat(8192)]),
    ],
    [
      'subject_too_long',
      '51 parts',
      subject(
        ...Array.from(
          { length: 51 },
          () => ['2.5.4.11', 'x'] as [string, string],
        ),
      ),
    ],
    [
      'subject_too_long',
      '51 attributes in one part',
      seq(
        set(
          ...Array.from({ length: 51 }, () => nameAttribute('2.5.4.11', 'x')),
        ),
      ),
    ],
  ])('is %s with %s', (code, _, name) => {
    expect(outcome({ subject: name })).toBe(code);
  });

  it('gives every CN, wherever it stands, as it is', () => {
    const name = seq(
      set(
        nameAttribute('commonName', 'alice'),
        nameAttribute('commonName', 'bob'),
      ),
      set(nameAttribute('commonName', 'alice,O=Root+CN=admin ')),
    );
    const request = expectRead({ subject: name });
    expect(request.subject.commonNames).toEqual([
      'alice',
      'bob',
      'alice,O=Root+CN=admin ',
    ]);
    expect(request.subject.text).toBe(
      'CN=alice\\,O=Root\\+CN=admin\\ ,CN=alice+CN=bob',
    );
  });

  it('keeps every CN that can be printed, code point by code point', () => {
    const printable = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter(value => !/[\p{Cc}\p{Cs}]/u.test(value));
    fc.assert(
      fc.property(printable, value => {
        const request = expectRead({
          key: testKey('ed25519'),
          subject: subject(['commonName', value]),
        });
        expect(request.subject.commonNames).toEqual([value]);
      }),
    );
  });
});

describe('requested extensions', () => {
  const constraints = (...fields: Buffer[]) =>
    extension('basicConstraints', seq(...fields));
  it.each<[string, string, Buffer[]]>([
    ['bad_extension', 'one that is no structure', [NULL]],
    ['bad_extension', 'one without a value', [seq(oid('1.2.3'))]],
    [
      'bad_extension',
      'one with two values',
      [seq(oid('1.2.3'), octets(NULL), octets(NULL))],
    ],
    [
      'bad_extension',
      'a value outside of its string',
      [seq(oid('1.2.3'), NULL)],
    ],
    [
      'malformed',
      'a BOOLEAN of BER',
      [seq(oid('1.2.3'), tlv(0x01, Buffer.of(1)), octets(NULL))],
    ],
    [
      'bad_extension',
      'very many',
      Array.from({ length: 33 }, (_, i) => extension(`1.2.${i}`, NULL)),
    ],
    [
      'duplicate_extension',
      'one twice',
      [extension('1.2.3', NULL), extension('1.2.3', NULL)],
    ],
    [
      'duplicate_extension',
      'two lists of names',
      [
        extension('subjectAltName', seq(text(0x81, 'a@b'))),
        extension('subjectAltName', seq(text(0x81, 'a@b'))),
      ],
    ],
    [
      'unknown_critical_extension',
      'a critical one of nobody',
      [extension('1.2.3', NULL, { critical: true })],
    ],
    [
      'unknown_critical_extension',
      'critical name constraints',
      [extension('2.5.29.30', seq(), { critical: true })],
    ],
    ['ca_requested', 'CA:TRUE', [constraints(TRUE)]],
    [
      'ca_requested',
      'CA:TRUE with a path length',
      [constraints(TRUE, int(0n))],
    ],
    [
      'ca_requested',
      'CA:FALSE with a path length',
      [constraints(FALSE, int(0n))],
    ],
    ['bad_extension', 'a path length alone', [constraints(int(0n))]],
    [
      'bad_extension',
      'constraints with bytes behind',
      [extension('basicConstraints', Buffer.concat([seq(), seq(TRUE)]))],
    ],
  ])('are %s: %s', (code, _, extensions) => {
    expect(outcome({ attributes: [extensionRequest(...extensions)] })).toBe(
      code,
    );
  });
});

describe('alternative names', () => {
  const other = (type: string, value: Buffer) =>
    tlv(0xa0, oid(type), tlv(0xa0, value));
  const principal = (options: {
    realm?: Buffer;
    type?: Buffer;
    components?: readonly Buffer[];
    more?: Buffer;
  }) =>
    other(
      'krb5PrincipalName',
      seq(
        tlv(0xa0, options.realm ?? text(0x1b, 'EXAMPLE.TEST')),
        tlv(
          0xa1,
          seq(
            tlv(0xa0, options.type ?? int(1n)),
            tlv(0xa1, seq(...(options.components ?? [text(0x1b, 'alice')]))),
          ),
        ),
        options.more ?? Buffer.alloc(0),
      ),
    );

  it.each<[string, Buffer, object]>([
    [
      'an address',
      text(0x81, 'a@example.test'),
      { kind: 'rfc822Name', value: 'a@example.test' },
    ],
    [
      'a host',
      text(0x82, 'example.test'),
      { kind: 'dnsName', value: 'example.test' },
    ],
    ['a URI', text(0x86, 'https://a/'), { kind: 'uri', value: 'https://a/' }],
    [
      'an IPv4 address',
      tlv(0x87, Buffer.of(127, 0, 0, 1)),
      { kind: 'ipAddress', value: '127.0.0.1' },
    ],
    [
      'an IPv6 address',
      tlv(0x87, Buffer.alloc(16)),
      { kind: 'ipAddress', value: '::' },
    ],
    [
      'an OID',
      tlv(0x88, Buffer.of(0x2a, 3)),
      { kind: 'registeredId', value: '1.2.3' },
    ],
    [
      'a name',
      tlv(0xa4, subject(['commonName', 'admin'])),
      { kind: 'directoryName', value: { text: 'CN=admin' } },
    ],
    ['an X.400 address', tlv(0xa3), { kind: 'unsupported', tagNumber: 3 }],
    ['a party of EDI', tlv(0xa5), { kind: 'unsupported', tagNumber: 5 }],
    [
      'a UPN',
      other('userPrincipalName', text(0x0c, 'a@R')),
      { kind: 'userPrincipalName', value: 'a@R', base64: 'DANhQFI=' },
    ],
    [
      'another otherName',
      other('1.2.3', NULL),
      { kind: 'otherName', oid: '1.2.3', base64: 'BQA=' },
    ],
    [
      'a principal',
      principal({}),
      {
        kind: 'krb5PrincipalName',
        value: 'alice@EXAMPLE.TEST',
        principal: {
          realm: 'EXAMPLE.TEST',
          nameType: 1,
          components: ['alice'],
        },
      },
    ],
    [
      'a service',
      principal({ components: [text(0x1b, 'host'), text(0x1b, 'a')] }),
      { value: 'host/a@EXAMPLE.TEST' },
    ],
    [
      'a name that poses as another',
      principal({
        realm: text(0x1b, 'EVIL.TEST'),
        components: [text(0x1b, 'alice@EXAMPLE.TEST')],
      }),
      { value: 'alice\\@EXAMPLE.TEST@EVIL.TEST' },
    ],
    [
      'a component that poses as two',
      principal({ components: [text(0x1b, 'host/a')] }),
      { value: 'host\\/a@EXAMPLE.TEST' },
    ],
    [
      'a realm that poses as part of a name',
      principal({ realm: text(0x1b, 'A@B') }),
      { value: 'alice@A\\@B' },
    ],
  ])('are typed: %s', (_, name, expected) => {
    const request = expectRead({ attributes: [requestNames(name)] });
    expect(request.alternativeNames).toMatchObject([expected]);
  });

  const upn = (value: Buffer) => other('userPrincipalName', value);
  it.each<[string, Buffer]>([
    ['no list', NULL],
    ['an empty list', seq()],
    ['101 names', seq(...Array.from({ length: 101 }, () => text(0x81, 'a@b')))],
    ['bytes behind', Buffer.concat([seq(text(0x81, 'a@b')), NULL])],
    ['a name of no kind', seq(tlv(0x89))],
    ['a name without its tag', seq(text(0x16, 'a@b'))],
    ['a constructed address', seq(tlv(0xa1, text(0x16, 'a@b')))],
    ['an address with NUL', seq(text(0x81, 'a@b\0.evil'))],
    ['an address without @', seq(text(0x81, 'alice'))],
    ['an address with a space', seq(text(0x81, 'a @b'))],
    ['an address beyond ASCII', seq(text(0x81, 'ä@b'))],
    ['an empty host', seq(text(0x82, ''))],
    ['an IP address of 3 octets', seq(tlv(0x87, Buffer.alloc(3)))],
    ['an IP address with a mask', seq(tlv(0x87, Buffer.alloc(8)))],
    ['an OID cut off', seq(tlv(0x88, Buffer.of(0x2a, 0x83)))],
    [
      'two names under one tag',
      seq(
        tlv(0xa4, subject(['commonName', 'a']), subject(['commonName', 'b'])),
      ),
    ],
    ['an otherName without a value', seq(tlv(0xa0, oid('1.2.3')))],
    [
      'an otherName with two',
      seq(tlv(0xa0, oid('1.2.3'), tlv(0xa0, NULL), tlv(0xa0, NULL))),
    ],
    [
      'an otherName with two values under its tag',
      seq(tlv(0xa0, oid('1.2.3'), tlv(0xa0, NULL, NULL))),
    ],
    ['a UPN of another type', seq(upn(text(0x16, 'alice@EXAMPLE.TEST')))],
    ['an empty UPN', seq(upn(text(0x0c, '')))],
    ['a UPN with NUL', seq(upn(text(0x0c, 'alice@EXAMPLE.TEST\0')))],
    ['a UPN that is no UTF-8', seq(upn(tlv(0x0c, Buffer.of(0xc0, 0x80))))],
    [
      'a principal with a realm of another type',
      seq(principal({ realm: text(0x0c, 'EXAMPLE.TEST') })),
    ],
    [
      'a principal with an empty realm',
      seq(principal({ realm: text(0x1b, '') })),
    ],
    ['a principal without components', seq(principal({ components: [] }))],
    [
      'a principal with an empty component',
      seq(principal({ components: [text(0x1b, '')] })),
    ],
    [
      'a principal with NUL',
      seq(principal({ components: [text(0x1b, 'alice\0')] })),
    ],
    [
      'a principal beyond ASCII',
      seq(principal({ components: [text(0x1b, 'älice')] })),
    ],
    ['a principal with a huge type', seq(principal({ type: int(2n ** 31n) }))],
    ['a principal with one part more', seq(principal({ more: NULL }))],
    [
      'a principal that is a string',
      seq(other('krb5PrincipalName', text(0x1b, 'alice@EXAMPLE.TEST'))),
    ],
  ])('are refused with %s', (_, names) => {
    const attributes = [extensionRequest(extension('subjectAltName', names))];
    expect(outcome({ attributes })).toBe('bad_alternative_name');
  });
});

describe('keys of other kinds', () => {
  it.each<[string, string, Buffer]>([
    ['unsupported_key', 'Ed448', testKey('ed448').spki],
    ['unsupported_key', 'X25519', spkiOf(generateKeyPairSync('x25519'))],
    [
      'unsupported_key',
      'RSASSA-PSS',
      spkiOf(generateKeyPairSync('rsa-pss', { modulusLength: 2048 })),
    ],
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
      'a third part',
      seq(seq(oid('ed25519')), bits(Buffer.alloc(32)), NULL),
    ],
    [
      'malformed_key',
      'unused bits',
      seq(seq(oid('ed25519')), bits(Buffer.alloc(32), 1)),
    ],
    [
      'malformed_key',
      'a key that is no bits',
      seq(seq(oid('ed25519')), octets(Buffer.alloc(32))),
    ],
  ])('are %s: %s', (code, _, spki) => {
    expect(outcome({ spki })).toBe(code);
  });

  function spkiOf(pair: { publicKey: KeyObject }): Buffer {
    return pair.publicKey.export({ type: 'spki', format: 'der' });
  }

  function withAlgorithm(kind: 'rsa' | 'ed25519', algorithm: Buffer): Buffer {
    const length = kind === 'rsa' ? 270 : 32;
    return seq(algorithm, bits(testKey(kind).spki.subarray(-length)));
  }
});
