import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { extension, subject } from '../__testUtils__/buildRequest';
import { FuzzInputs } from '../__testUtils__/fuzz/FuzzInputs';
import { seedCertificate } from '../__testUtils__/fuzz/seedCertificate';
import { openssl } from '../__testUtils__/openssl';
import { testKey } from '../__testUtils__/testKeys';
import {
  bits,
  int,
  NULL,
  octets,
  oid,
  seq,
  set,
  text,
  tlv,
} from '../__testUtils__/tlv';
import { readPemBlocks } from '../der/pem';
import { CertificateDescription } from './readCertificate';
import { Certificate, describeCertificate } from './Certificate';

function describeOrThrow(der: Buffer): CertificateDescription {
  const result = describeCertificate(der);
  if (!result.ok) {
    throw new Error(result.message);
  }
  return result.certificate;
}

/** A certificate with any fields and an invalid signature. */
function certificate(
  parts: {
    version?: Buffer;
    serialNumber?: Buffer;
    name?: Buffer;
    validity?: Buffer;
    spki?: Buffer;
    extensions?: readonly Buffer[];
  } = {},
): Buffer {
  const algorithm = seq(oid('ecdsaWithSha256'));
  const name = parts.name ?? subject(['commonName', 'alice']);
  const { extensions } = parts;
  const tbs = seq(
    parts.version ?? tlv(0xa0, int(2n)),
    parts.serialNumber ?? int(12n),
    algorithm,
    name,
    parts.validity ??
      seq(text(0x17, '220506062253Z'), text(0x18, '20520506062253Z')),
    name,
    parts.spki ?? testKey('P-256').spki,
    extensions ? tlv(0xa3, seq(...extensions)) : Buffer.alloc(0),
  );
  return seq(tbs, algorithm, bits(Buffer.alloc(64)));
}

describe('describeCertificate', () => {
  const der = seedCertificate();
  const description = describeOrThrow(der);

  it('returns the same values as Node.js', () => {
    const node = new X509Certificate(der);
    expect(description).toMatchObject({
      serialNumber: BigInt(`0x${node.serialNumber}`),
      pem: node.toString(),
      base64: node.raw.toString('base64'),
      sha1Fingerprint: node.fingerprint.toLowerCase(),
      sha256Fingerprint: node.fingerprint256.toLowerCase(),
      notBefore: Date.parse(node.validFrom),
      notAfter: Date.parse(node.validTo),
      ca: node.ca,
    });
  });

  it('returns the formats of the contract', () => {
    expect(description).toMatchObject({
      serialNumber: 12n,
      serialNumberHex: '0xC',
      subject: 'CN=alice,O=test',
      issuer: 'CN=Certificate Authority,O=EXAMPLE.TEST',
      validNotBefore: 'Thu, 01 Jan 1970 00:00:00 -0000',
      validNotAfter: 'Thu, 01 Jan 2060 00:00:00 -0000',
      sha1Fingerprint: expect.stringMatching(
        /^[0-9a-f]{2}(?::[0-9a-f]{2}){19}$/,
      ),
      sha256Fingerprint: expect.stringMatching(
        /^[0-9a-f]{2}(?::[0-9a-f]{2}){31}$/,
      ),
      san: {
        otherUpn: ['alice@EXAMPLE.TEST'],
        otherKpn: ['alice@EXAMPLE.TEST'],
        other: [
          '1.3.6.1.4.1.311.20.2.3:DBJhbGljZUBFWEFNUExFLlRFU1Q=',
          '1.3.6.1.5.2.2:MCSgDhsMRVhBTVBMRS5URVNUoRIwEKADAgEBoQkwBxsFYWxpY2U=',
        ],
        rfc822Name: ['alice@example.test'],
        dnsName: [],
      },
      keyUsage: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: ['clientAuth', 'pkinitClientAuth'],
      publicKey: {
        sha256: createHash('sha256')
          .update(testKey('P-256').spki)
          .digest('hex'),
      },
    });
  });

  it('describes a certificate of OpenSSL with every kind of alternative name', async () => {
    const names =
      'DNS:example.test,URI:https://example.test/,IP:127.0.0.1,IP:2001:db8::1,RID:1.2.3,' +
      'email:alice@example.test,otherName:1.2.3.4;UTF8:x,dirName:name';
    const config = `
      [req]
      distinguished_name = name
      x509_extensions = extensions
      prompt = no
      [name]
      O = EXAMPLE.TEST
      CN = alice
      [extensions]
      subjectAltName = ${names}
      basicConstraints = CA:TRUE,pathlen:1
      keyUsage = keyCertSign,cRLSign,decipherOnly
      extendedKeyUsage = serverAuth,1.2.3.4
      authorityInfoAccess = OCSP;URI:http://ocsp.example.test/,caIssuers;URI:http://c.example.test/
      certificatePolicies = 1.2.3,2.5.29.32.0`;
    const folder = await mkdtemp(join(tmpdir(), 'x509-test-'));
    const file = join(folder, 'config');
    await writeFile(file, config);
    const { output } = openssl([
      ...['req', '-x509', '-newkey', 'rsa:2048', '-noenc'],
      ...['-keyout', '/dev/null', '-config', file],
    ]);
    await rm(folder, { recursive: true });
    const [made] = readPemBlocks(output, { label: 'CERTIFICATE' });
    expect(describeOrThrow(made)).toMatchObject({
      subject: 'CN=alice,O=EXAMPLE.TEST',
      san: {
        otherUpn: [],
        otherKpn: [],
        other: ['1.2.3.4:DAF4'],
        rfc822Name: ['alice@example.test'],
        dnsName: ['example.test'],
        uri: ['https://example.test/'],
        ipAddress: ['127.0.0.1', '2001:db8::1'],
        directoryName: ['CN=alice,O=EXAMPLE.TEST'],
        oid: ['1.2.3'],
      },
      ca: true,
      keyUsage: ['keyCertSign', 'cRLSign', 'decipherOnly'],
      extendedKeyUsage: ['serverAuth', '1.2.3.4'],
    });
  });

  it.each<[string, Buffer, object]>([
    [
      'without extensions',
      certificate(),
      { alternativeNames: [], ca: false, keyUsage: undefined },
    ],
    [
      'of version 1',
      certificate({ version: Buffer.alloc(0) }),
      { serialNumber: 12n },
    ],
    [
      'with a serial number of 128 bits',
      certificate({ serialNumber: int(2n ** 128n - 1n) }),
      { serialNumber: 2n ** 128n - 1n, serialNumberHex: `0x${'F'.repeat(32)}` },
    ],
    [
      'with a negative serial number',
      certificate({ serialNumber: int(-255n) }),
      { serialNumber: -255n, serialNumberHex: '-0xFF' },
    ],
    [
      'with a serial number with padding',
      certificate({ serialNumber: tlv(2, Buffer.of(0, 0, 1)) }),
      { serialNumber: 1n },
    ],
    [
      'with a BMPString',
      certificate({ name: subject(['commonName', '\0a\0l', 0x1e]) }),
      { subject: 'CN=al' },
    ],
    ['without a subject', certificate({ name: seq() }), { subject: '' }],
    [
      'valid until 9999',
      certificate({
        validity: seq(
          text(0x17, '500101000000Z'),
          text(0x18, '99991231235959Z'),
        ),
      }),
      {
        validNotBefore: 'Sun, 01 Jan 1950 00:00:00 -0000',
        validNotAfter: 'Fri, 31 Dec 9999 23:59:59 -0000',
      },
    ],
    [
      'with a point at infinity as its key',
      certificate({
        spki: seq(
          seq(oid('ecPublicKey'), oid('prime256v1')),
          bits(Buffer.of(0)),
        ),
      }),
      { subject: 'CN=alice' },
    ],
    [
      'with explicit curve parameters',
      certificate({
        spki: seq(seq(oid('ecPublicKey'), seq()), bits(Buffer.of(4))),
      }),
      { subject: 'CN=alice' },
    ],
    [
      'with an unknown key type',
      certificate({ spki: seq(seq(oid('1.2.3')), bits(Buffer.of(0))) }),
      { subject: 'CN=alice' },
    ],
    [
      'with names that cannot be read',
      certificate({
        extensions: [
          extension(
            'subjectAltName',
            seq(text(0x81, 'ä'), text(0x82, 'a.test')),
          ),
        ],
      }),
      {
        alternativeNames: [
          { kind: 'unsupported' },
          { kind: 'dnsName', value: 'a.test' },
        ],
      },
    ],
    [
      'with extensions that cannot be read',
      certificate({
        extensions: [
          extension('subjectAltName', NULL),
          extension('keyUsage', octets(Buffer.alloc(0))),
        ],
      }),
      {
        alternativeNames: [],
        keyUsage: undefined,
      },
    ],
    [
      'with an extension twice',
      certificate({
        extensions: [
          extension('extendedKeyUsage', seq(oid('1.2'))),
          extension('extendedKeyUsage', seq(oid('1.3'))),
        ],
      }),
      { extendedKeyUsage: ['1.2'] },
    ],
    [
      'with a BOOLEAN in BER',
      certificate({
        extensions: [extension('basicConstraints', seq(tlv(1, Buffer.of(1))))],
      }),
      { ca: true },
    ],
  ])('describes a certificate %s', (_, bytes, expected) => {
    expect(describeCertificate(bytes)).toMatchObject({
      ok: true,
      certificate: expected,
    });
  });

  it.each<[string, string, Buffer]>([
    ['malformed', 'nothing', Buffer.alloc(0)],
    ['malformed', 'text', Buffer.from(description.pem)],
    ['malformed', 'a key', testKey('rsa').spki],
    ['malformed', 'a set of certificates', set(der)],
    ['malformed', 'trailing bytes', Buffer.concat([der, NULL])],
    [
      'malformed',
      'a certificate without times',
      certificate({ validity: seq(NULL, NULL) }),
    ],
    ['malformed', 'a certificate without a key', certificate({ spki: NULL })],
    ['too_large', 'more than 64 KiB', octets(Buffer.alloc(65_536))],
  ])('returns %s for %s', (code, _, bytes) => {
    expect(describeCertificate(bytes)).toMatchObject({ ok: false, code });
  });

  it('returns a description or malformed for any damaged certificate', () => {
    const inputs = new FuzzInputs();
    fc.assert(
      fc.property(fc.nat(), seed => {
        const { content } = inputs.create(seed, 'certificate');
        const result = describeCertificate(Buffer.from(content));
        expect(result.ok || result.code === 'malformed').toBe(true);
      }),
    );
  });
});

describe('Certificate', () => {
  it('returns the same description of its DER on every access', () => {
    const seed = new Certificate(seedCertificate());
    const { description } = seed;
    expect(description).toEqual(describeCertificate(seed.der));
    expect(seed.description).toBe(description);
    expect(new Certificate(seed.der).description).toBe(description);
  });

  it('returns the reason when its DER cannot be read', () => {
    expect(new Certificate(Buffer.alloc(0)).description).toMatchObject({
      ok: false,
      code: 'malformed',
    });
  });
});
