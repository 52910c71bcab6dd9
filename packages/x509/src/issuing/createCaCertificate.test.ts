import { createPublicKey, X509Certificate } from 'node:crypto';
import {
  aliceFields,
  caName,
  makeIssuer,
  validity,
} from '../__testUtils__/authority';
import { testKey } from '../__testUtils__/testKeys';
import { writePem } from '../der/pem';
import { readCertifiedSubject } from '../description/readCertificate';
import { readCertificateRequest } from '../request/readCertificateRequest';
import {
  createCertificateRequest,
  randomSerialNumber,
} from './createCaCertificate';
import { signingKeyOf } from './SigningKey';

it('returns different serial numbers of 127 bits', () => {
  const numbers = Array.from({ length: 2000 }, randomSerialNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
  const all = numbers.reduce((union, number) => union | number, 0n);
  const common = numbers.reduce(
    (intersection, number) => intersection & number,
  );
  expect([all, common]).toEqual([2n ** 127n - 1n, 0n]);
});

it.each(['P-256', 'P-384', 'P-521', 'rsa', 'ed25519'] as const)(
  'creates a request that proves possession of a %s key',
  async kind => {
    const { privateKey, spki } = testKey(kind);
    const der = await createCertificateRequest({
      subject: caName,
      key: signingKeyOf(privateKey),
    });
    const result = readCertificateRequest(writePem('CERTIFICATE REQUEST', der));
    expect(result).toMatchObject({
      ok: true,
      csr: {
        subject: { text: 'CN=Certificate Authority,O=EXAMPLE.TEST' },
        publicKey: { spki },
        alternativeNames: [],
      },
    });
  },
);

it('certifies another CA with the original octets of its name, key and key identifier', async () => {
  const [root, other] = [await makeIssuer('P-384'), await makeIssuer('P-256')];
  const subject = readCertifiedSubject(
    Buffer.from(other.certificate.base64, 'base64'),
  );
  const cross = new X509Certificate(
    await root.signCertificate({
      ...validity,
      serialNumber: randomSerialNumber(),
      subject: subject.subject,
      spki: subject.spki,
      extensions: {
        basicConstraints: { ca: true, pathLength: 1 },
        keyUsage: ['keyCertSign', 'cRLSign'],
        subjectKeyIdentifier: subject.subjectKeyIdentifier,
      },
    }),
  );
  const leaf = new X509Certificate(
    await other.signCertificate({
      ...aliceFields(),
      spki: testKey('rsa').spki,
    }),
  );
  expect(leaf.checkIssued(cross)).toBe(true);
  expect(leaf.verify(cross.publicKey)).toBe(true);
  expect(cross.verify(createPublicKey(root.certificate.pem))).toBe(true);
});
