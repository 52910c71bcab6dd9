import type { KeyObject } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writePem } from '@directory-gateway/x509';
import { serialNumberOf } from './__testUtils__/certificateFacts';
import { openssl } from './__testUtils__/openssl';
import { aliceRequest, KEY_TYPES, newKeyPair } from './__testUtils__/requests';
import { CRL_URL, TestCa } from './__testUtils__/TestCa';
import { sqlite } from './__testUtils__/TestDatabase';
import { TlsServer } from './__testUtils__/TlsServer';
import type { EmbeddedCa } from './createEmbeddedCa';

// Generating RSA-4096 keys is slow.
jest.setTimeout(600_000);

describe('OpenSSL', () => {
  let ca: TestCa;
  let node: EmbeddedCa;

  beforeAll(async () => {
    ca = await TestCa.start(sqlite);
    node = await ca.open();
  });

  afterAll(async () => {
    await ca?.stop();
  });

  const write = async (name: string, text: string) => {
    const path = join(ca.folder, name);
    await writeFile(path, text);
    return path;
  };

  /** Writes a file with the CA's certificate and a current CRL. */
  const writeTrust = async () => {
    await node.lists.renew();
    const root = writePem('CERTIFICATE', node.currentAuthority.get().chain[0]);
    const list = writePem('X509 CRL', await node.lists.read());
    return await write('trust.pem', root + list);
  };

  const issue = async (publicKey: KeyObject) => {
    const issued = await node.authority.sign(
      aliceRequest({
        publicKey: publicKey.export({ type: 'spki', format: 'der' }),
        alternativeNames: {
          emails: ['alice@example.test'],
          userPrincipalNames: ['alice@EXAMPLE.TEST'],
          kerberosPrincipalNames: ['alice@EXAMPLE.TEST'],
        },
      }),
    );
    const pem = writePem('CERTIFICATE', issued.certificate.der);
    return {
      pem,
      path: await write('alice.pem', pem),
      serialNumber: serialNumberOf(issued),
    };
  };

  const revoke = async (serialNumber: bigint) => {
    await node.revocations.revoke({
      serialNumber,
      reason: 'keyCompromise',
      revokedBy: 'user:default/admin',
      revokedAt: new Date(),
    });
  };

  it.each(KEY_TYPES)('verifies a certificate for a key of %s', async kind => {
    const { path } = await issue(newKeyPair(kind).publicKey);
    const trust = await writeTrust();
    const output = await openssl(
      ...['verify', '-x509_strict', '-purpose', 'sslclient'],
      ...['-crl_check', '-CAfile', trust, path],
    );
    expect(output).toBe(`${path}: OK\n`);
  });

  it('reads a certificate', async () => {
    const { path, serialNumber } = await issue(newKeyPair('P-256').publicKey);
    const text = await openssl('x509', '-in', path, '-noout', '-text');
    const hex = serialNumber.toString(16);
    const even = hex.padStart(hex.length + (hex.length % 2), '0');
    expect(text).toContain('Version: 3 (0x2)');
    expect(text).toContain(even.match(/../g)!.join(':'));
    expect(text).toContain('Issuer: O = EXAMPLE.TEST, CN = Certificate Author');
    expect(text).toContain('Subject: O = EXAMPLE.TEST, CN = alice');
    expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/Extended Key Usage: \s+TLS Web Client Auth/);
    expect(text).toContain(`URI:${CRL_URL}`);
    expect(text).toContain('email:alice@example.test');
    expect(text).toContain('X509v3 Subject Key Identifier');
    expect(text).toContain('X509v3 Authority Key Identifier');
  });

  it('reads the CRL and rejects a revoked certificate', async () => {
    const { path, serialNumber } = await issue(newKeyPair('P-256').publicKey);
    await revoke(serialNumber);
    const trust = await writeTrust();
    const list = await openssl(
      ...['crl', '-in', trust, '-noout', '-text', '-CAfile', trust],
    );
    expect(list).toContain('Version 2 (0x1)');
    expect(list).toMatch(/X509v3 CRL Number: \s+\d+/);
    expect(list).toContain('Key Compromise');
    const hex = serialNumber.toString(16).toUpperCase();
    expect(list).toMatch(new RegExp(`Serial Number: 0?${hex}\n`));
    await expect(
      openssl('verify', '-crl_check', '-CAfile', trust, path),
    ).rejects.toThrow(/certificate revoked/);
  });

  it('accepts a TLS client until its certificate is revoked', async () => {
    const own = newKeyPair('P-256');
    const { pem, serialNumber } = await issue(own.publicKey);
    const key = own.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const client = { certificate: pem, key: key.toString() };
    const serverFiles = {
      certificate: await write('server.pem', pem),
      key: await write('server.key', client.key),
    };

    const before = await TlsServer.start({
      ...serverFiles,
      ca: await writeTrust(),
    });
    expect(await before.request(client)).toContain('200 ok');
    await before.stop();

    await revoke(serialNumber);
    const after = await TlsServer.start({
      ...serverFiles,
      ca: await writeTrust(),
    });
    await expect(after.request(client)).rejects.toThrow(/certificate revoked/);
    await after.stop();
  });
});
