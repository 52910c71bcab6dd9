import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { chmod, copyFile, rename, writeFile } from 'node:fs/promises';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { writePem } from '@directory-gateway/x509';
import {
  aliceRequest,
  openssl,
  PUBLIC_URL,
  TestCa,
} from './__testUtils__/TestCa';
import { parsePrincipalName } from './composeCertificate';

// OpenSSL generates keys, which takes seconds on a busy machine.
jest.setTimeout(120_000);

const DAY_MS = 24 * 60 * 60 * 1000;

const names = {
  emails: ['alice@example.test'],
  userPrincipalNames: ['alice@EXAMPLE.TEST'],
  kerberosPrincipalNames: ['alice/x\\@y@EXAMPLE.TEST'],
};

describe('EmbeddedAuthority', () => {
  let ca: TestCa;

  beforeEach(async () => {
    ca = await TestCa.start();
  });

  afterEach(async () => {
    await ca.stop();
  });

  it.each([
    ['P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['Ed25519', () => generateKeyPairSync('ed25519')],
  ] as const)(
    'signs a certificate for a %s key that OpenSSL verifies strictly',
    async (_type, newKey) => {
      const node = await ca.open();
      const key = newKey();
      const request = aliceRequest({ key, alternativeNames: names });
      const { chain, certificate } = await node.authority.sign(request);
      const path = ca.path('alice.pem');
      await writeFile(path, writePem('CERTIFICATE', certificate.der));
      expect(
        openssl([
          ...['verify', '-x509_strict', '-purpose', 'sslclient'],
          ...['-CAfile', ca.path('root.pem')],
          ...['-untrusted', ca.path('intermediate.pem'), path],
        ]),
      ).toBe(`${path}: OK\n`);

      const leaf = new X509Certificate(certificate.der);
      expect(leaf.checkPrivateKey(key.privateKey)).toBe(true);
      expect(String(BigInt(`0x${leaf.serialNumber}`))).toBe(
        String(request.serialNumber),
      );
      expect(chain.map(der => new X509Certificate(der).subject)).toEqual([
        'O=EXAMPLE.TEST\nCN=alice',
        expect.stringMatching(/^O=EXAMPLE.TEST\nCN=Issuing CA \w{8}$/),
        expect.stringMatching(/^O=EXAMPLE.TEST\nCN=Root CA \w{8}$/),
      ]);
    },
  );

  it('writes the fields of the profile and the names of the request only', async () => {
    const node = await ca.open({
      profiles: [
        {
          name: 'mail',
          validity: { days: 10 },
          keyUsage: ['digitalSignature', 'keyEncipherment'],
          extendedKeyUsage: ['emailProtection', '1.2.3.4'],
        },
      ],
    });
    expect(node.authority.profiles.get('mail')).toMatchObject({
      validityMs: 10 * DAY_MS,
      extendedKeyUsage: ['emailProtection', '1.2.3.4'],
    });
    const start = Date.now();
    const { certificate } = await node.authority.sign(
      aliceRequest({ profile: 'mail', alternativeNames: names }),
    );
    const text = openssl(
      ['x509', '-inform', 'DER', '-noout', '-text'],
      certificate.der,
    );
    const { name } = await ca.issuer();
    for (const part of [
      'Version: 3 (0x2)',
      'Subject: O = EXAMPLE.TEST, CN = alice',
      'X509v3 Basic Constraints: critical\n                CA:FALSE',
      'X509v3 Key Usage: critical\n                Digital Signature, Key Encipherment\n',
      'X509v3 Extended Key Usage: \n                E-mail Protection, 1.2.3.4\n',
      'email:alice@example.test, othername: UPN::alice@EXAMPLE.TEST, othername: 1.3.6.1.5.2.2:',
      `URI:${PUBLIC_URL}/ca/${name}/crl`,
      `CA Issuers - URI:${PUBLIC_URL}/ca/${name}/certificate`,
      'X509v3 Subject Key Identifier',
      'X509v3 Authority Key Identifier',
    ]) {
      expect(text).toContain(part);
    }
    expect(text.match(/X509v3 |Authority Information Access/g)).toHaveLength(9);
    const result = certificate.description;
    const { notBefore = 0, notAfter = 0 } = result.ok ? result.certificate : {};
    // The start is that of the new intermediate.
    const issuer = await ca.issuer();
    expect(notBefore).toBe(issuer.validity.notBefore);
    expect(notAfter - start - 10 * DAY_MS).toBeGreaterThanOrEqual(-1000);
    expect(notAfter - start - 10 * DAY_MS).toBeLessThan(60_000);
  });

  it('does not sign beyond the validity of its chain', async () => {
    const node = await ca.open();
    const { validity } = await ca.issuer();
    ca.clockAheadMs = validity.notAfter - Date.now() - DAY_MS;
    const { certificate } = await node.authority.sign(aliceRequest());
    const result = certificate.description;
    expect(result.ok && result.certificate.notAfter).toBe(validity.notAfter);
    ca.clockAheadMs += DAY_MS + 1000;
    await expect(node.authority.sign(aliceRequest())).rejects.toMatchObject({
      name: 'AuthorityUnavailableError',
      message: expect.stringMatching(/^The CA is valid from/),
    });
  });

  it.each<[string, Partial<SigningRequest>]>([
    ['an unknown profile', { profile: 'other' }],
    ['a user name of 65 characters', { username: 'a'.repeat(65) }],
    ['a user name with a control character', { username: 'a\nb' }],
    ...[
      { emails: ['älice@example.test'] },
      { emails: [''] },
      { userPrincipalNames: ['a\0@b'] },
      { kerberosPrincipalNames: ['alice'] },
      { kerberosPrincipalNames: ['älice@EXAMPLE.TEST'] },
    ].map(
      changes =>
        [
          JSON.stringify(changes),
          {
            alternativeNames: {
              emails: [],
              userPrincipalNames: [],
              kerberosPrincipalNames: [],
              ...changes,
            },
          },
        ] satisfies [string, Partial<SigningRequest>],
    ),
  ])('refuses %s', async (_name, changes) => {
    const node = await ca.open();
    await expect(
      node.authority.sign(aliceRequest(changes)),
    ).rejects.toMatchObject({ name: 'AuthorityRefusalError' });
  });

  it.each(['0640', '0604', '0660'])(
    'does not sign with a key file of mode %s',
    async mode => {
      const node = await ca.open();
      await chmod(ca.files().keyFile, mode);
      await expect(node.authority.sign(aliceRequest())).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
        message: expect.stringContaining(
          `accessible to other users (mode ${mode})`,
        ),
      });
      await chmod(ca.files().keyFile, '0400');
      await node.authority.sign(aliceRequest());
    },
  );

  it('does not sign with a missing key, another key or a wrong passphrase', async () => {
    const node = await ca.open();
    const { keyFile } = ca.files();
    await rename(keyFile, ca.path('away'));
    await node.maintain();
    await node.maintain();
    expect(ca.logger.lines).toEqual([
      `error The embedded CA cannot sign: AuthorityUnavailableError: ${keyFile} cannot be read: Error: ENOENT: no such file or directory, open '${keyFile}'`,
    ]);
    ca.create('intermediate', '--file-name', 'other');
    await copyFile(ca.path('other.key'), keyFile);
    await expect(node.authority.sign(aliceRequest())).rejects.toThrow(
      `${keyFile} is not the key of the CA's certificate`,
    );

    const passphraseFile = ca.path('passphrase');
    await writeFile(passphraseFile, 'secret\n', { mode: 0o600 });
    ca.create(
      ...(['intermediate', '--file-name', 'encrypted'] as const),
      ...['--passphrase-file', passphraseFile],
    );
    const encrypted = await ca.open({
      issuers: [{ ...ca.files('encrypted'), passphraseFile }],
    });
    await encrypted.authority.sign(aliceRequest());
    await writeFile(passphraseFile, 'other');
    const next = await ca.open({
      issuers: [{ ...ca.files('encrypted'), passphraseFile }],
    });
    await expect(next.authority.sign(aliceRequest())).rejects.toThrow(
      'is not a PEM private key, or the passphrase is wrong',
    );
  });

  it.each([
    ['a missing chain', { chainFile: '/missing' }, /ENOENT/],
    ['a key as a chain', { chainFile: 'intermediate.key' }, /cannot be used/],
    ['a root without pathlen', { chainFile: 'leaf.pem' }, /must allow signing/],
    [
      'certificates in a wrong order',
      { chainFile: 'reversed.pem' },
      /not signed/,
    ],
  ])('does not start with %s', async (_name, files, reason) => {
    const node = await ca.open();
    const { certificate, chain } = await ca.issue(node);
    const pem = (der: Buffer) => writePem('CERTIFICATE', der);
    await writeFile(ca.path('leaf.pem'), pem(certificate.der));
    await writeFile(
      ca.path('reversed.pem'),
      [...chain].slice(1).reverse().map(pem).join(''),
    );
    const chainFile = files.chainFile.startsWith('/')
      ? files.chainFile
      : ca.path(files.chainFile);
    await expect(
      ca.open({ issuers: [{ ...ca.files(), chainFile }] }),
    ).rejects.toThrow(reason);
  });
});

describe('parsePrincipalName', () => {
  it.each([
    ['alice@EXAMPLE.TEST', ['alice'], 'EXAMPLE.TEST'],
    ['host/a.b@R', ['host', 'a.b'], 'R'],
    [String.raw`a\@b\/c\\d@R`, [String.raw`a@b/c\d`], 'R'],
  ])('parses %s', (text, components, realm) => {
    expect(parsePrincipalName(text)).toEqual({
      nameType: 1,
      components,
      realm,
    });
  });

  it.each(['', 'alice', '@R', 'alice@', 'a@b@c', 'a//b@R', 'a\\@R'])(
    'refuses %j',
    text => {
      expect(() => parsePrincipalName(text)).toThrow('name@REALM');
    },
  );
});
