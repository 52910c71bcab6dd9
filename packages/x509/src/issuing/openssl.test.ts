import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aliceFields, makeIssuer, validity } from '../__testUtils__/authority';
import { openssl } from '../__testUtils__/openssl';
import { testKey } from '../__testUtils__/testKeys';
import { writePem } from '../der/pem';
import { Issuer } from './Issuer';
import { randomSerialNumber } from './writeTbs';
import { REVOCATION_REASONS } from './writeTbs';

const { spki } = testKey('rsa');
let issuer: Issuer;
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
    issuer = await makeIssuer('P-256');
    folder = await mkdtemp(join(tmpdir(), 'x509-test-'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it.each(['P-256', 'P-384', 'P-521', 'rsa', 'ed25519'] as const)(
    'verifies certificates and revocation lists of a CA with a %s key',
    async kind => {
      const authority = await makeIssuer(kind);
      const [good, revoked] = await Promise.all(
        [1n, 2n].map(serialNumber =>
          authority.signCertificate({ ...aliceFields({ serialNumber }), spki }),
        ),
      );
      const list = await authority.signRevocationList({
        number: 1n,
        thisUpdate: validity.notBefore,
        nextUpdate: validity.notAfter,
        revoked: [
          {
            serialNumber: 2n,
            revokedAt: validity.notBefore,
            reason: 1,
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

  it('reads the fields of a certificate', async () => {
    const der = await issuer.signCertificate({
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
      'CA Issuers - URI:http://ca.example.test/ca.crt',
    ]) {
      expect(output).toContain(part);
    }
    expect(
      openssl(['asn1parse', '-inform', 'DER'], { input: der }).output,
    ).not.toMatch(/PRINTABLESTRING|T61/);
  });

  it('reads the entries of a revocation list', async () => {
    const reasons = Object.values(REVOCATION_REASONS);
    const revoked = reasons.map(reason => ({
      serialNumber: BigInt(reason) + 2n ** 100n,
      revokedAt: new Date('2050-01-01T00:00:00Z'),
      reason,
    }));
    const { output } = openssl(['crl', '-inform', 'DER', '-noout', '-text'], {
      input: await revoke(revoked),
    });
    expect(output).toContain('Version 2 (0x1)');
    expect(output).toMatch(/X509v3 CRL Number: *\n *7\n/);
    expect(output).toMatch(/X509v3 Authority Key Identifier/);
    expect(output.match(/Serial Number: /g)).toHaveLength(reasons.length);
    expect(
      output.match(/Revocation Date: Jan {2}1 00:00:00 2050 GMT/g),
    ).toHaveLength(reasons.length);
    // An unspecified reason is omitted.
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

  it('reads an empty and a long revocation list', async () => {
    const empty = openssl(['crl', '-inform', 'DER', '-noout', '-text'], {
      input: await revoke(),
    });
    expect(empty.output).toContain('No Revoked Certificates');
    const long = await revoke(
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
