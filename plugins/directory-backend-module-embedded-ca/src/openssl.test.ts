import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect as tlsConnect, createServer, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import {
  createSigningRequest,
  type KeyPair,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { writePem } from '@directory-gateway/x509';
import { lintCertificate } from './__testUtils__/lintCertificate';
import { serialNumberOf } from './__testUtils__/certificateFacts';
import { openssl } from './__testUtils__/openssl';
import { aliceRequest, KEY_TYPES, newKeyPair } from './__testUtils__/requests';
import { PUBLIC_URL, TestCa } from './__testUtils__/TestCa';
import { sqlite } from './__testUtils__/TestDatabase';
import { TestRoot } from './__testUtils__/TestHierarchy';
import { TlsServer } from './__testUtils__/TlsServer';
import type { EmbeddedCa } from './createEmbeddedCa';

// Generating RSA-4096 keys is slow.
jest.setTimeout(600_000);

const ADMIN = 'user:default/admin';

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

  /** Writes a file with the CA's certificates and current CRLs. */
  const writeTrust = async () => {
    await node.lists.renew();
    const { id, certificate } = ca.intermediate;
    return await write(
      'trust.pem',
      ca.root.pem +
        writePem('CERTIFICATE', certificate) +
        writePem('X509 CRL', await node.lists.read(id)) +
        (await ca.root.signRevocationList()),
    );
  };

  const issue = async (key: KeyPair) => {
    const issued = await node.authority.sign({
      ...createSigningRequest({
        username: 'alice',
        principal: 'alice@EXAMPLE.TEST',
        profile: 'userCerts',
        key,
      }),
      alternativeNames: {
        emails: ['alice@example.test'],
        userPrincipalNames: ['alice@EXAMPLE.TEST'],
        kerberosPrincipalNames: ['alice@EXAMPLE.TEST'],
      },
    });
    lintCertificate(issued.certificate.der);
    const pem = writePem('CERTIFICATE', issued.certificate.der);
    return {
      pem,
      chain: issued.chain.map(der => writePem('CERTIFICATE', der)).join(''),
      path: await write('alice.pem', pem),
      serialNumber: serialNumberOf(issued),
    };
  };

  const revoke = async (serialNumber: bigint) =>
    await node.authority.revoke({
      serialNumber,
      reason: 'keyCompromise',
      revokedBy: ADMIN,
    });

  it.each(KEY_TYPES)('verifies a certificate for a %s key', async kind => {
    const { path } = await issue(newKeyPair(kind));
    const trust = await writeTrust();
    const output = await openssl(
      ...['verify', '-x509_strict', '-purpose', 'sslclient'],
      ...['-crl_check_all', '-CAfile', trust, path],
    );
    expect(output).toBe(`${path}: OK\n`);
  });

  it('reads a certificate', async () => {
    const { path, serialNumber } = await issue(newKeyPair('P-256'));
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
    const documents = `${PUBLIC_URL}/ca/${ca.intermediate.id.slice(0, 16)}`;
    expect(text).toContain(`CA Issuers - URI:${documents}/certificate`);
    expect(text).toContain(`URI:${documents}/crl`);
    expect(text).toContain('email:alice@example.test');
    expect(text).toContain('X509v3 Subject Key Identifier');
    expect(text).toContain('X509v3 Authority Key Identifier');
  });

  it('reads the CRL and rejects a revoked certificate', async () => {
    const { path, serialNumber } = await issue(newKeyPair('P-256'));
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

  it('reads the CRLs of two intermediates with the same name', async () => {
    const earlier = await issue(newKeyPair('P-256'));
    const next = await ca.root.createIntermediate();
    const issuers = [next, ca.intermediate].map(({ files }) => ({
      chainFile: files.chainFile,
      keyFile: files.keyFile,
    }));
    const successor = await ca.open({ issuers });
    const later = await successor.authority.sign(aliceRequest());
    await successor.authority.revoke({
      serialNumber: earlier.serialNumber,
      reason: 'superseded',
      revokedBy: ADMIN,
    });
    await successor.lists.renew();
    const trust = await write(
      'trust-of-two.pem',
      (
        await Promise.all(
          [next, ca.intermediate].map(
            async ({ id, certificate }) =>
              writePem('CERTIFICATE', certificate) +
              writePem('X509 CRL', await successor.lists.read(id)),
          ),
        )
      ).join('') + ca.root.pem,
    );
    const verify = (path: string) =>
      openssl('verify', '-crl_check', '-CAfile', trust, path);
    await expect(verify(earlier.path)).rejects.toThrow(/certificate revoked/);
    const pem = writePem('CERTIFICATE', later.certificate.der);
    const path = await write('later.pem', pem);
    await expect(verify(path)).resolves.toBe(`${path}: OK\n`);
  });

  const REJECTED = expect.stringMatching(/certificate revoked/);
  const ACCEPTED = expect.stringContaining('200 ok');

  it.each([
    { state: 'revoked', released: REJECTED },
    { state: 'on hold', released: ACCEPTED },
    { state: 'revoked, and its key blocked', released: REJECTED },
  ])('rejects a TLS client that is $state', async ({ state, released }) => {
    const own = newKeyPair('P-256');
    const { pem, chain, serialNumber } = await issue(own);
    const key = own.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const client = { certificate: chain, key: key.toString() };
    const serverFiles = {
      certificate: await write('server.pem', pem),
      key: await write('server.key', client.key),
    };
    /** Returns the response, or the alert. */
    const connect = async () => {
      const server = await TlsServer.start({
        ...serverFiles,
        ca: await writeTrust(),
      });
      try {
        return await server.request(client).catch(String);
      } finally {
        await server.stop();
      }
    };
    expect(await connect()).toEqual(ACCEPTED);
    if (state === 'on hold') {
      await node.authority.hold({ serialNumber, heldBy: ADMIN });
    } else {
      await revoke(serialNumber);
    }
    if (state.includes('blocked')) {
      const spki = own.publicKey.export({ type: 'spki', format: 'der' });
      await node.authority.blockKey({
        publicKeySha256: createHash('sha256').update(spki).digest('hex'),
      });
    }
    expect(await connect()).toEqual(REJECTED);
    await node.authority.release({ serialNumber, releasedBy: ADMIN });
    expect(await connect()).toEqual(released);
  });

  it('does not certify a blocked key', async () => {
    const own = newKeyPair('P-256');
    const spki = own.publicKey.export({ type: 'spki', format: 'der' });
    await node.authority.blockKey({
      publicKeySha256: createHash('sha256').update(spki).digest('hex'),
    });
    await expect(issue(own)).rejects.toThrow('The public key is blocked.');
  });

  it("verifies a chain with Node's TLS, and with the CRL", async () => {
    const own = newKeyPair('P-256');
    const { chain, serialNumber } = await issue(own);
    const key = own.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const { id } = ca.intermediate;
    const connect = async () => {
      const server = createServer({
        // The client does not verify the server.
        cert: chain,
        key,
        ca: ca.root.pem,
        crl: [
          writePem('X509 CRL', await node.lists.read(id)),
          await ca.root.signRevocationList(),
        ],
        requestCert: true,
        rejectUnauthorized: false,
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const socket = tlsConnect({
        port,
        host: '127.0.0.1',
        cert: chain,
        key,
        rejectUnauthorized: false,
      });
      const [accepted] = (await once(server, 'secureConnection')) as [
        TLSSocket,
      ];
      const { authorized, authorizationError } = accepted;
      accepted.destroy();
      socket.destroy();
      server.close();
      return authorized ? 'authorized' : String(authorizationError);
    };
    await node.lists.renew();
    expect(await connect()).toBe('authorized');
    await revoke(serialNumber);
    expect(await connect()).toMatch(/CERT_REVOKED/);
  });

  it('verifies a chain with NSS', async () => {
    const { path } = await issue(newKeyPair('P-256'));
    const folder = join(ca.folder, 'nss');
    await mkdir(folder);
    const certutil = async (...args: readonly string[]) =>
      (await promisify(execFile)('certutil', ['-d', `sql:${folder}`, ...args]))
        .stdout;
    await certutil('-N', '--empty-password');
    const add = async (name: string, trust: string, file: string) =>
      await certutil('-A', '-n', name, '-t', trust, '-a', '-i', file);
    await add('root', 'CT,C,C', await write('root.pem', ca.root.pem));
    await add(
      'intermediate',
      ',,',
      await write(
        'intermediate.pem',
        writePem('CERTIFICATE', ca.intermediate.certificate),
      ),
    );
    await add('alice', ',,', path);
    expect(await certutil('-V', '-n', 'alice', '-u', 'C', '-e', '-l')).toMatch(
      /certificate is valid/,
    );
  });

  it('verifies an old chain with the certificate that a new root has signed', async () => {
    const { path } = await issue(newKeyPair('P-256'));
    const next = await TestRoot.create(ca.folder, { name: 'New root' });
    const crossed = await next.certify(
      'Certificate Authority',
      ca.intermediate.key,
    );
    const trusted = await write('new-root.pem', next.pem);
    const chain = await write(
      'crossed.pem',
      writePem('CERTIFICATE', crossed.certificate),
    );
    expect(
      await openssl(
        ...['verify', '-x509_strict', '-purpose', 'sslclient'],
        ...['-CAfile', trusted, '-untrusted', chain, path],
      ),
    ).toBe(`${path}: OK\n`);
  });
});
