import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  X509Certificate,
} from 'node:crypto';
import { aliceFields, makeIssuer, validity } from '../__testUtils__/authority';
import { openssl } from '../__testUtils__/openssl';
import { testKey } from '../__testUtils__/testKeys';
import { readPemBlocks } from '../der/pem';
import { describeCertificate } from '../description/Certificate';
import { CertificateFields } from './writeTbs';
import { Issuer } from './Issuer';

const { spki } = testKey('rsa');
const issuer = makeIssuer('P-256');

describe('signCertificate', () => {
  it('writes the key of the subject and the identifiers of both keys', () => {
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
      },
    });
    const { output } = openssl(
      ['x509', '-inform', 'DER', '-noout', '-ext', 'authorityKeyIdentifier'],
      { input: der },
    );
    expect(output.replace(/[:\s]/g, '').toLowerCase()).toContain(
      identifier(bitsOf(testKey('P-256').spki, 65)),
    );
  });

  it('writes the issuer octet by octet as in the CA certificate of another tool', () => {
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
    ['an empty validity period', { notAfter: validity.notBefore }],
    ['an invalid date', { notBefore: new Date(NaN) }],
    ['a date after the year 9999', { notAfter: new Date('+010000-01-01') }],
    [
      'an unknown purpose',
      {
        extensions: {
          basicConstraints: { ca: false },
          extendedKeyUsage: ['x'],
        },
      },
    ],
    [
      'a purpose that is not a valid OID',
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
  ])('throws a RangeError for %s', (_, fields) => {
    expect(() =>
      issuer.signCertificate({ ...aliceFields(fields), spki }),
    ).toThrow(RangeError);
  });

  it.each([
    ['text', Buffer.from('key')],
    ['nothing', Buffer.alloc(0)],
    ['another structure', Buffer.of(0x30, 0)],
  ])('throws a TypeError when the key is %s', (_, none) => {
    expect(() =>
      issuer.signCertificate({ ...aliceFields(), spki: none }),
    ).toThrow(TypeError);
  });
});

describe('Issuer', () => {
  const { privateKey } = testKey('P-256');
  it.each([
    ['bytes that are not a certificate', Buffer.from('x'), privateKey],
    [
      "a certificate that is not a CA's",
      issuer.signCertificate({ ...aliceFields(), spki: testKey('P-256').spki }),
      privateKey,
    ],
    [
      'another key',
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
  ])('cannot be created with %s', (_, certificate, key) => {
    expect(() => Issuer.create({ certificate, privateKey: key })).toThrow(
      TypeError,
    );
  });

  it.each([
    ['a negative number', { number: -1n }],
    ['an empty validity period', { nextUpdate: validity.notBefore }],
    [
      'a negative serial number',
      { revoked: [{ serialNumber: -1n, revokedAt: validity.notBefore }] },
    ],
    [
      'an invalid revocation date',
      { revoked: [{ serialNumber: 1n, revokedAt: new Date(NaN) }] },
    ],
  ])('does not sign a revocation list with %s', (_, fields) => {
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
