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
import { randomSerialNumber } from './writeTbs';
import { signingKeyOf } from './SigningKey';

const { spki } = testKey('rsa');
let issuer: Issuer;

beforeAll(async () => {
  issuer = await makeIssuer('P-256');
});

describe('signCertificate', () => {
  it("writes the subject's key and the identifiers of both keys", async () => {
    const der = await issuer.signCertificate({ ...aliceFields(), spki });
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

  it('copies the issuer octet by octet from a CA certificate of another tool', async () => {
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
      key: signingKeyOf(
        createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
      ),
    });
    const node = new X509Certificate(
      await root.signCertificate({ ...aliceFields(), spki }),
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
          extendedKeyUsage: ['x'],
        },
      },
    ],
    [
      'a purpose that is not a valid OID',
      {
        extensions: {
          extendedKeyUsage: ['1.40.1'],
        },
      },
    ],
    ['an empty list of purposes', { extensions: { extendedKeyUsage: [] } }],
    ['an empty list of usages', { extensions: { keyUsage: [] } }],
  ])('rejects %s with a RangeError', async (_, fields) => {
    await expect(
      issuer.signCertificate({ ...aliceFields(fields), spki }),
    ).rejects.toThrow(RangeError);
  });

  it.each([
    ['text', Buffer.from('key')],
    ['nothing', Buffer.alloc(0)],
    ['a different structure', Buffer.of(0x30, 0)],
  ])('rejects %s instead of a key with a TypeError', async (_, none) => {
    await expect(
      issuer.signCertificate({ ...aliceFields(), spki: none }),
    ).rejects.toThrow(TypeError);
  });
});

describe('Issuer', () => {
  const own = () => Buffer.from(issuer.certificate.base64, 'base64');
  const leaf = () =>
    issuer.signCertificate({ ...aliceFields(), spki: testKey('P-256').spki });
  const { privateKey } = testKey('P-256');
  const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });

  it.each([
    ['bytes that are not a certificate', () => Buffer.from('x'), privateKey],
    ["a certificate that is not a CA's", leaf, privateKey],
    ['a different key', own, testKey('P-384').privateKey],
    ['a public key', own, generateKeyPairSync('ed25519').publicKey],
    ['a key of another kind', own, testKey('ed448').privateKey],
    ['a curve of another kind', own, secp256k1.privateKey],
  ])('cannot be created with %s', async (_, certificate, key) => {
    const der = await certificate();
    expect(() =>
      Issuer.create({ certificate: der, key: signingKeyOf(key) }),
    ).toThrow(TypeError);
  });

  it('does not return a certificate that a defective key has signed', async () => {
    const key = signingKeyOf(privateKey);
    const defective = Issuer.create({
      certificate: own(),
      key: {
        spki: key.spki,
        sign: async (data, hash) => {
          const signature = await key.sign(data, hash);
          signature[signature.length - 1] ^= 1;
          return signature;
        },
      },
    });
    await expect(
      defective.signCertificate({ ...aliceFields(), spki }),
    ).rejects.toThrow('invalid signature');
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
  ])('does not sign a revocation list with %s', async (_, fields) => {
    const list = {
      number: 1n,
      thisUpdate: validity.notBefore,
      nextUpdate: validity.notAfter,
      revoked: [],
    };
    await expect(
      issuer.signRevocationList({ ...list, ...fields }),
    ).rejects.toThrow(RangeError);
  });

  it('reads a revocation list of any size, and refuses that of another CA', async () => {
    const fields = {
      number: 2n ** 64n,
      thisUpdate: validity.notBefore,
      nextUpdate: validity.notAfter,
      revoked: Array.from({ length: 2000 }, (_, index) => ({
        serialNumber: randomSerialNumber(),
        revokedAt: new Date('2026-01-02T03:04:05Z'),
        reason: [0, 1, 6, 10][index % 4],
      })),
    };
    const list = await issuer.signRevocationList(fields);
    const wholeSeconds = (date: Date) =>
      new Date(Math.floor(date.getTime() / 1000) * 1000);
    expect(await issuer.readRevocationList(list)).toEqual({
      ...fields,
      thisUpdate: wholeSeconds(fields.thisUpdate),
      nextUpdate: wholeSeconds(fields.nextUpdate),
    });
    const other = await makeIssuer('P-384');
    for (const unreadable of [
      await other.signRevocationList(fields),
      list.subarray(0, 100),
      Buffer.concat([list, Buffer.of(0)]),
      Buffer.alloc(0),
    ]) {
      await expect(issuer.readRevocationList(unreadable)).rejects.toThrow(
        'The revocation list is damaged, or of another CA',
      );
    }
  });
});
