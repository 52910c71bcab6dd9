import {
  randomSerialNumber,
  readCertificateRequest,
  signingKeyOf,
} from '@directory-gateway/x509';
import {
  createCsr,
  createIssuer,
  newKey,
  PROFILE,
  TestCa,
} from './__testUtils__/TestCa';
import type { CaIssuer } from './CaIssuer';
import { SignerUnavailableError } from './CertificateSigner';
import { type CertificateInput, makeCertificate } from './makeCertificate';

const URLS = {
  crl: 'http://ca.example.test/crl',
  certificate: 'http://ca.example.test/certificate',
};

const otherSpki = signingKeyOf(newKey()).spki;

let test: TestCa;
let ca: CaIssuer;

beforeAll(async () => {
  ca = await createIssuer();
  test = await TestCa.create(ca);
});

afterAll(async () => {
  await test.remove();
});

async function input(): Promise<CertificateInput> {
  const csr = await createCsr();
  const result = readCertificateRequest(csr.toString('base64'));
  if (!result.ok) {
    throw new Error(result.message);
  }
  return {
    request: await test.request({ csr }),
    spki: result.csr.publicKey.spki,
    profile: PROFILE,
    ca,
    urls: URLS,
  };
}

describe('makeCertificate', () => {
  it.each<[string, (input: CertificateInput) => Partial<CertificateInput>]>([
    [
      'serialNumber',
      ({ request }) => ({
        request: { ...request, serialNumber: randomSerialNumber() },
      }),
    ],
    [
      'subject',
      ({ request }) => ({ request: { ...request, username: 'bob' } }),
    ],
    [
      'subject',
      ({ profile }) => ({ profile: { ...profile, organization: 'OTHER' } }),
    ],
    [
      'notBefore',
      ({ request }) => ({
        request: { ...request, notBefore: new Date(test.now - 60_000) },
      }),
    ],
    [
      'notAfter',
      ({ request }) => ({
        request: { ...request, notAfter: new Date(test.now + 60_000) },
      }),
    ],
    [
      'alternativeNames',
      ({ request }) => ({
        request: {
          ...request,
          alternativeNames: {
            ...request.alternativeNames,
            kerberosPrincipalNames: ['root@EXAMPLE.TEST'],
          },
        },
      }),
    ],
    [
      'alternativeNames',
      ({ request }) => ({
        request: {
          ...request,
          alternativeNames: {
            ...request.alternativeNames,
            emails: ['root@example.test'],
          },
        },
      }),
    ],
    [
      'keyUsage',
      ({ profile }) => ({
        profile: { ...profile, keyUsage: ['digitalSignature'] },
      }),
    ],
    [
      'extendedKeyUsage',
      ({ profile }) => ({
        profile: { ...profile, extendedKeyUsage: ['serverAuth'] },
      }),
    ],
    [
      'certificatePolicies',
      ({ profile }) => ({ profile: { ...profile, policies: [] } }),
    ],
    [
      'crlDistributionPoints',
      () => ({ urls: { ...URLS, crl: 'http://other.example.test' } }),
    ],
    ['publicKey', () => ({ spki: otherSpki })],
    [
      'caIssuers',
      () => ({ urls: { ...URLS, certificate: 'http://other.example.test' } }),
    ],
  ])('does not return a certificate with another %s', async (field, change) => {
    const wanted = await input();
    const other = await makeCertificate({ ...wanted, ...change(wanted) });
    const signCertificate = jest
      .spyOn(ca.issuer, 'signCertificate')
      .mockResolvedValueOnce(other);
    const made = makeCertificate(wanted);
    await expect(made).rejects.toThrow(SignerUnavailableError);
    await expect(made).rejects.toThrow(`Invalid certificate: ${field}`);
    signCertificate.mockRestore();
  });
});
