import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  X509Certificate,
} from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openssl } from '../__testUtils__/openssl';
import { testKey } from '../__testUtils__/testKeys';
import { readPemBlocks } from '../armor/readPemBlocks';
import { writePem } from '../armor/writePem';
import { describeCertificate } from '../description/describeCertificate';
import { CertificateFields } from './CertificateFields';
import { createCaCertificate } from './createCaCertificate';
import { Issuer } from './Issuer';
import { randomSerialNumber } from './randomSerialNumber';
import { REVOCATION_REASONS, RevocationReason } from './RevocationListFields';

const NOW = Date.now();
const validity = {
  notBefore: new Date(NOW - 60_000),
  notAfter: new Date(NOW + 86_400_000),
};
const caName = [
  { type: 'O', value: 'EXAMPLE.TEST' },
  { type: 'CN', value: 'Certificate Authority' },
] as const;

function makeIssuer(kind: Parameters<typeof testKey>[0]): Issuer {
  const { privateKey } = testKey(kind);
  const certificate = createCaCertificate({
    ...validity,
    subject: caName,
    privateKey,
  });
  return Issuer.create({ certificate, privateKey });
}

function aliceFields(
  fields: Partial<CertificateFields> = {},
): CertificateFields {
  return {
    ...validity,
    serialNumber: randomSerialNumber(),
    subject: [
      { type: 'O', value: 'EXAMPLE.TEST' },
      { type: 'CN', value: 'älice' },
    ],
    extensions: {
      basicConstraints: { ca: false },
      keyUsage: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: ['clientAuth', '1.3.6.1.5.2.3.4'],
      crlDistributionPoints: ['http://ca.example.test/ca.crl'],
      alternativeNames: [
        { kind: 'rfc822Name', value: 'alice@example.test' },
        { kind: 'userPrincipalName', value: 'alice@EXAMPLE.TEST' },
        {
          kind: 'krb5PrincipalName',
          principal: {
            realm: 'EXAMPLE.TEST',
            nameType: 1,
            components: ['alice'],
          },
        },
      ],
    },
    ...fields,
  };
}

const { spki } = testKey('rsa');
const issuer = makeIssuer('P-256');
const revoke = (
  revoked: Parameters<Issuer['signRevocationList']>[0]['revoked'] = [],
) =>
  issuer.signRevocationList({
    number: 7n,
    thisUpdate: validity.notBefore,
    nextUpdate: validity.notAfter,
    revoked,
  });

describe('OpenSSL', () => {
  let folder: string;
  const file = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'x509-test-'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it.each(['P-256', 'P-384', 'P-521', 'rsa', 'ed25519'] as const)(
    'verifies certificates and revocation lists of an authority of %s',
    async kind => {
      const authority = makeIssuer(kind);
      const [good, revoked] = [1n, 2n].map(serialNumber =>
        authority.signCertificate({ ...aliceFields({ serialNumber }), spki }),
      );
      const list = authority.signRevocationList({
        number: 1n,
        thisUpdate: validity.notBefore,
        nextUpdate: validity.notAfter,
        revoked: [
          {
            serialNumber: 2n,
            revokedAt: validity.notBefore,
            reason: 'keyCompromise',
          },
        ],
      });
      await writeFile(file('ca.pem'), authority.certificate.pem);
      await writeFile(file('good.pem'), writePem('CERTIFICATE', good));
      await writeFile(file('revoked.pem'), writePem('CERTIFICATE', revoked));
      await writeFile(file('list.pem'), writePem('X509 CRL', list));

      const verify = (name: string) =>
        openssl([
          'verify',
          '-x509_strict',
          '-purpose',
          'sslclient',
          '-CAfile',
          file('ca.pem'),
          '-crl_check',
          '-CRLfile',
          file('list.pem'),
          file(name),
        ]);
      expect(verify('good.pem')).toEqual({
        ok: true,
        output: `${file('good.pem')}: OK\n`,
      });
      expect(verify('revoked.pem')).toMatchObject({
        ok: false,
        output: expect.stringContaining('certificate revoked'),
      });
      expect(
        openssl([
          'verify',
          '-x509_strict',
          '-CAfile',
          file('ca.pem'),
          file('ca.pem'),
        ]),
      ).toMatchObject({ ok: true });
    },
  );

  it('reads in a certificate what was written', () => {
    const der = issuer.signCertificate({
      ...aliceFields({ serialNumber: 2n ** 127n - 1n }),
      spki,
    });
    const { output } = openssl(['x509', '-inform', 'DER', '-noout', '-text'], {
      input: der,
    });
    for (const part of [
      'Version: 3 (0x2)',
      '7f:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff:ff',
      'Issuer: O = EXAMPLE.TEST, CN = Certificate Authority',
      'Subject: O = EXAMPLE.TEST, CN = \\C3\\A4lice',
      'X509v3 Basic Constraints: critical\n                CA:FALSE',
      'X509v3 Key Usage: critical\n                Digital Signature, Key Encipherment',
      'TLS Web Client Authentication, PKINIT Client Auth',
      'email:alice@example.test, othername: UPN::alice@EXAMPLE.TEST, othername: 1.3.6.1.5.2.2:',
      'URI:http://ca.example.test/ca.crl',
    ]) {
      expect(output).toContain(part);
    }
    expect(
      openssl(['asn1parse', '-inform', 'DER'], { input: der }).output,
    ).not.toMatch(/PRINTABLESTRING|T61/);
  });

  it('reads in a revocation list what was written', () => {
    const reasons = Object.keys(REVOCATION_REASONS) as RevocationReason[];
    const revoked = reasons.map(reason => ({
      serialNumber: BigInt(REVOCATION_REASONS[reason]) + 2n ** 100n,
      revokedAt: new Date('2050-01-01T00:00:00Z'),
      reason,
    }));
    const { output } = openssl(['crl', '-inform', 'DER', '-noout', '-text'], {
      input: revoke(revoked),
    });
    expect(output).toContain('Version 2 (0x1)');
    expect(output).toMatch(/X509v3 CRL Number: *\n *7\n/);
    expect(output).toMatch(/X509v3 Authority Key Identifier/);
    expect(output.match(/Serial Number: /g)).toHaveLength(reasons.length);
    expect(
      output.match(/Revocation Date: Jan {2}1 00:00:00 2050 GMT/g),
    ).toHaveLength(reasons.length);
    // An unspecified reason is left out.
    expect(output.match(/CRL Reason Code/g)).toHaveLength(reasons.length - 1);
    for (const name of [
      'Key Compromise',
      'CA Compromise',
      'Superseded',
      'Certificate Hold',
      'Remove From CRL',
      'Privilege Withdrawn',
      'AA Compromise',
    ]) {
      expect(output).toContain(name);
    }
  });

  it('reads a revocation list that is empty, and one that is long', () => {
    const empty = openssl(['crl', '-inform', 'DER', '-noout', '-text'], {
      input: revoke(),
    });
    expect(empty.output).toContain('No Revoked Certificates');
    const long = revoke(
      Array.from({ length: 20_000 }, () => ({
        serialNumber: randomSerialNumber(),
        revokedAt: validity.notBefore,
      })),
    );
    const { ok } = openssl(['crl', '-inform', 'DER', '-noout'], {
      input: long,
    });
    expect(ok).toBe(true);
  });
});

describe('a certificate', () => {
  it('holds the key of its subject and the identifiers of both keys', () => {
    const der = issuer.signCertificate({ ...aliceFields(), spki });
    const node = new X509Certificate(der);
    expect(node.publicKey.export({ type: 'spki', format: 'der' })).toEqual(
      spki,
    );
    expect(node.checkIssued(new X509Certificate(issuer.certificate.pem))).toBe(
      true,
    );

    const bitsOf = (key: Buffer, length: number) => key.subarray(-length);
    const identifier = (bits: Buffer) =>
      createHash('sha256').update(bits).digest('hex').slice(0, 40);
    expect(describeCertificate(der)).toMatchObject({
      certificate: {
        subjectKeyIdentifier: identifier(bitsOf(spki, 270)),
        authorityKeyIdentifier: identifier(bitsOf(testKey('P-256').spki, 65)),
      },
    });
  });

  it('names its issuer octet by octet as an authority from elsewhere names itself', () => {
    const { output } = openssl([
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-noenc',
      '-keyout',
      '-',
      '-subj',
      '/C=DE/O=Elsewhere/CN=Root',
      '-addext',
      'keyUsage=critical,keyCertSign,cRLSign',
    ]);
    const [certificate] = readPemBlocks(output, { label: 'CERTIFICATE' });
    const [key] = readPemBlocks(output, { label: 'PRIVATE KEY' });
    const root = Issuer.create({
      certificate,
      privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    });
    const node = new X509Certificate(
      root.signCertificate({ ...aliceFields(), spki }),
    );
    expect(node.checkIssued(new X509Certificate(certificate))).toBe(true);
    expect(node.verify(new X509Certificate(certificate).publicKey)).toBe(true);
  });

  it.each<[string, Partial<CertificateFields>]>([
    ['serial number 0', { serialNumber: 0n }],
    ['a negative serial number', { serialNumber: -1n }],
    ['a serial number of 21 octets', { serialNumber: 2n ** 159n }],
    ['no subject', { subject: [] }],
    ['no time to be valid', { notAfter: validity.notBefore }],
    ['no date', { notBefore: new Date(NaN) }],
    ['a date after the year 9999', { notAfter: new Date('+010000-01-01') }],
    [
      'a purpose of no meaning',
      {
        extensions: {
          basicConstraints: { ca: false },
          extendedKeyUsage: ['x'],
        },
      },
    ],
    [
      'a purpose that is nearly an OID',
      {
        extensions: {
          basicConstraints: { ca: false },
          extendedKeyUsage: ['1.40.1'],
        },
      },
    ],
    [
      'a negative path length',
      { extensions: { basicConstraints: { ca: true, pathLength: -1 } } },
    ],
    [
      'an empty list of purposes',
      { extensions: { basicConstraints: { ca: false }, extendedKeyUsage: [] } },
    ],
    [
      'an empty list of usages',
      { extensions: { basicConstraints: { ca: false }, keyUsage: [] } },
    ],
  ])('is not written with %s', (_, fields) => {
    expect(() =>
      issuer.signCertificate({ ...aliceFields(fields), spki }),
    ).toThrow(RangeError);
  });

  it('is not written for a key that is none', () => {
    expect(() =>
      issuer.signCertificate({ ...aliceFields(), spki: Buffer.from('key') }),
    ).toThrow();
  });
});

describe('an issuer', () => {
  const { privateKey } = testKey('P-256');
  it.each([
    ['bytes that are no certificate', Buffer.from('x'), privateKey],
    [
      "a certificate that is no CA's",
      issuer.signCertificate({ ...aliceFields(), spki: testKey('P-256').spki }),
      privateKey,
    ],
    [
      'the key of somebody else',
      Buffer.from(issuer.certificate.base64, 'base64'),
      testKey('P-384').privateKey,
    ],
    [
      'a public key',
      Buffer.from(issuer.certificate.base64, 'base64'),
      generateKeyPairSync('ed25519').publicKey,
    ],
    [
      'a key of another kind',
      Buffer.from(issuer.certificate.base64, 'base64'),
      testKey('ed448').privateKey,
    ],
    [
      'a curve of another kind',
      Buffer.from(issuer.certificate.base64, 'base64'),
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
    ],
  ])('is not made of %s', (_, certificate, key) => {
    expect(() => Issuer.create({ certificate, privateKey: key })).toThrow(
      TypeError,
    );
  });

  it.each([
    ['a negative number', { number: -1n }],
    ['no time to be valid', { nextUpdate: validity.notBefore }],
    [
      'a negative serial number',
      { revoked: [{ serialNumber: -1n, revokedAt: validity.notBefore }] },
    ],
    [
      'no date of revoking',
      { revoked: [{ serialNumber: 1n, revokedAt: new Date(NaN) }] },
    ],
  ])('signs no revocation list with %s', (_, fields) => {
    const list = {
      number: 1n,
      thisUpdate: validity.notBefore,
      nextUpdate: validity.notAfter,
      revoked: [],
    };
    expect(() => issuer.signRevocationList({ ...list, ...fields })).toThrow(
      RangeError,
    );
  });
});

it('draws serial numbers of 127 bits, each another', () => {
  const numbers = Array.from({ length: 2000 }, randomSerialNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
  const all = numbers.reduce((union, number) => union | number, 0n);
  const common = numbers.reduce(
    (intersection, number) => intersection & number,
  );
  expect([all, common]).toEqual([2n ** 127n - 1n, 0n]);
});

it('finds the blocks of a label in a file', () => {
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
