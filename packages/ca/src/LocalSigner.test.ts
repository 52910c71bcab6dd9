import { createHash, X509Certificate } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Certificate, signingKeyOf } from '@directory-gateway/x509';
import {
  createCsr,
  createIssuer,
  DAY_MS,
  newKey,
  PROFILE,
  PUBLIC_URL,
  TestCa,
} from './__testUtils__/TestCa';
import {
  type SignCertificateRequest,
  type LoggedCertificate,
  type SignRevocationListRequest,
  SignerRefusalError,
  SignerUnavailableError,
} from './CertificateSigner';
import { documentUrlsOf } from './CaIssuer';
import type { LocalSigner } from './LocalSigner';
import { IssuanceLog } from './log/IssuanceLog';

const MINUTE_MS = 60_000;

let ca: TestCa;
let signer: LocalSigner;

beforeEach(async () => {
  ca = await TestCa.create();
  signer = await ca.open();
});

afterEach(async () => {
  await ca.remove();
});

async function logged(): Promise<LoggedCertificate[]> {
  const all = new Array<LoggedCertificate>();
  for await (const certificate of signer.loggedCertificates()) {
    all.push(certificate);
  }
  return all;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('signCertificate', () => {
  it('composes the certificate from the request and the profile', async () => {
    const privateKey = newKey();
    const request = await ca.request({ csr: await createCsr(privateKey) });
    const der = await signer.signCertificate(request);
    const issuer = new X509Certificate(ca.issuer.chain[0]);
    expect(new X509Certificate(der).verify(issuer.publicKey)).toBe(true);
    const urls = documentUrlsOf({ id: ca.issuer.id, publicUrl: PUBLIC_URL });
    expect(urls.crl).toMatch(/\/api\/directory\/ca\/[0-9a-f]{16}\/crl$/);
    expect(new Certificate(der).description).toMatchObject({
      certificate: {
        serialNumber: request.serialNumber,
        subject: 'CN=alice,O=EXAMPLE.TEST',
        issuer: 'CN=Issuing CA,O=EXAMPLE.TEST',
        notBefore: Math.floor(request.notBefore.getTime() / 1000) * 1000,
        notAfter: Math.floor(request.notAfter.getTime() / 1000) * 1000,
        publicKey: { sha256: sha256(signingKeyOf(privateKey).spki) },
        san: {
          rfc822Name: ['alice@example.test'],
          otherUpn: ['alice@EXAMPLE.TEST'],
          otherKpn: ['alice@EXAMPLE.TEST'],
        },
        ca: false,
        keyUsage: ['digitalSignature', 'keyEncipherment'],
        extendedKeyUsage: ['clientAuth', 'pkinitClientAuth'],
        certificatePolicies: PROFILE.policies,
        crlDistributionPoints: [urls.crl],
        caIssuers: [urls.certificate],
      },
    });
  });

  it('returns the logged certificate when a request is repeated', async () => {
    const privateKey = newKey();
    const request = await ca.request({ csr: await createCsr(privateKey) });
    const [first, concurrent] = await Promise.all([
      signer.signCertificate(request),
      signer.signCertificate(request),
    ]);
    expect(concurrent).toEqual(first);
    // Also when the validity starts too early for a new certificate.
    ca.now += DAY_MS;
    const repeated = { ...request, csr: await createCsr(privateKey) };
    expect(await signer.signCertificate(repeated)).toEqual(first);
    const other = await ca.open();
    expect(await other.signCertificate(repeated)).toEqual(first);
    expect(await logged()).toHaveLength(1);
  });

  it('returns a certificate that another process has logged since', async () => {
    const other = await ca.open();
    const request = await ca.request();
    const certificate = await other.signCertificate(request);
    expect(await signer.signCertificate(request)).toEqual(certificate);
  });

  it.each<[string, Partial<SignCertificateRequest>]>([
    ['user', { username: 'bob' }],
    ['profile', { profile: 'other' }],
    ['expiry', { notAfter: new Date() }],
    [
      'name',
      {
        alternativeNames: {
          emails: [],
          userPrincipalNames: [],
          kerberosPrincipalNames: ['root@EXAMPLE.TEST'],
        },
      },
    ],
  ])(
    'refuses the serial number of a certificate for another %s',
    async (_, changes) => {
      const request = await ca.request();
      await signer.signCertificate(request);
      await expect(
        signer.signCertificate({ ...request, ...changes }),
      ).rejects.toThrow('The serial number was used for another request.');
      expect(await logged()).toHaveLength(1);
    },
  );

  it('refuses the serial number of a request that is being signed', async () => {
    const request = await ca.request();
    const outcomes = await Promise.allSettled([
      signer.signCertificate(request),
      signer.signCertificate({ ...request, csr: await createCsr() }),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
    ]);
    expect(await logged()).toHaveLength(1);
  });

  const minutes = (count: number) => new Date(ca.now + count * MINUTE_MS);
  const days = (count: number) => minutes(count * 24 * 60);

  it.each<[string, RegExp, () => Promise<Partial<SignCertificateRequest>>]>([
    [
      'a CSR whose signature is not valid',
      /^The CSR is invalid/,
      async () => {
        const csr = await createCsr();
        csr[csr.length - 1] ^= 1;
        return { csr };
      },
    ],
    [
      'a CSR with the key of another CSR',
      /^The CSR is invalid/,
      async () => {
        const csr = await createCsr();
        const { spki } = signingKeyOf(newKey());
        // All keys of P-256 start with the same octets.
        spki.copy(csr, csr.indexOf(spki.subarray(0, 26)));
        return { csr };
      },
    ],
    [
      'bytes that are not a CSR',
      /^The CSR is invalid/,
      async () => ({ csr: Buffer.from('x') }),
    ],
    [
      'a CSR that is too long',
      /longer than 16384 bytes/,
      async () => ({ csr: Buffer.alloc(16 * 1024 + 1) }),
    ],
    [
      'a name that is too long',
      /more than 100 alternative names, or one longer than 255/,
      async () => ({
        alternativeNames: {
          emails: [`${'a'.repeat(243)}@example.test`],
          userPrincipalNames: [],
          kerberosPrincipalNames: [],
        },
      }),
    ],
    [
      'too many names',
      /more than 100 alternative names, or one longer than 255/,
      async () => ({
        alternativeNames: {
          emails: Array.from({ length: 101 }, (_, i) => `a${i}@example.test`),
          userPrincipalNames: [],
          kerberosPrincipalNames: [],
        },
      }),
    ],
    [
      'an unknown profile',
      /certificate profile is unknown/,
      async () => ({ profile: '__proto__' }),
    ],
    [
      'an unknown CA',
      /CA is unknown/,
      async () => ({ issuerId: '0'.repeat(64) }),
    ],
    [
      'a validity longer than that of the profile',
      /longer than that of the certificate profile/,
      async () => ({ notAfter: days(30.1) }),
    ],
    [
      'a validity that starts too early',
      /does not start now/,
      async () => ({ notBefore: minutes(-11), notAfter: days(1) }),
    ],
    [
      'a validity that starts later',
      /does not start now/,
      async () => ({ notBefore: minutes(6), notAfter: days(1) }),
    ],
    [
      'an invalid date',
      /longer than that of the certificate profile/,
      async () => ({ notBefore: new Date(NaN) }),
    ],
    [
      'an empty validity',
      /cannot be written/,
      async () => ({ notAfter: minutes(-5) }),
    ],
    [
      'serial number 0',
      /cannot be written/,
      async () => ({ serialNumber: 0n }),
    ],
    [
      'a user name that is too long for a CN',
      /cannot be written/,
      async () => ({ username: 'a'.repeat(65) }),
    ],
    ['an empty user name', /cannot be written/, async () => ({ username: '' })],
    [
      'a principal that cannot be parsed',
      /cannot be written/,
      async () => ({
        alternativeNames: {
          emails: [],
          userPrincipalNames: [],
          kerberosPrincipalNames: ['alice'],
        },
      }),
    ],
  ])('refuses %s', async (_, message, change) => {
    const request = await ca.request(await change());
    const refused = signer.signCertificate(request);
    await expect(refused).rejects.toThrow(SignerRefusalError);
    await expect(refused).rejects.toThrow(message);
    expect(await readdir(ca.folder)).toEqual([]);
  });

  it('refuses the key of the CA', async () => {
    const key = newKey();
    const issuer = await createIssuer({ key: signingKeyOf(key) });
    const own = await ca.open({ issuers: [issuer] });
    await expect(
      own.signCertificate(
        await ca.request({ issuerId: issuer.id, csr: await createCsr(key) }),
      ),
    ).rejects.toThrow('The public key belongs to a certificate authority.');
  });

  it("refuses a validity beyond that of the CA's certificate", async () => {
    const issuer = await createIssuer({ validityMs: 10 * DAY_MS });
    const short = await ca.open({ issuers: [issuer] });
    const request = await ca.request({ issuerId: issuer.id });
    await expect(short.signCertificate(request)).rejects.toThrow(
      "not within that of the CA's certificate",
    );
    await short.signCertificate({ ...request, notAfter: days(9) });
  });

  it('signs certificates with the first CA only', async () => {
    const next = await createIssuer();
    const both = await ca.open({ issuers: [next, ca.issuer] });
    const request = await ca.request();
    await expect(both.signCertificate(request)).rejects.toThrow(
      'This CA signs only its CRL.',
    );
    await both.signCertificate({ ...request, issuerId: next.id });
    await both.signRevocationList(ca.crl(1));
    const { issuers } = await both.describe();
    expect(issuers.map(({ id, crlNumber }) => [id, crlNumber])).toEqual([
      [next.id, 0n],
      [ca.issuer.id, 1n],
    ]);
  });

  it('refuses a blocked key in every process, also after a restart', async () => {
    const key = newKey();
    const csr = await createCsr(key);
    const { spki } = signingKeyOf(key);
    const other = await ca.open();
    await signer.signCertificate(await ca.request({ csr }));
    await signer.blockKey({ publicKeySha256: sha256(spki) });
    await signer.blockKey({ publicKeySha256: sha256(spki) });
    for (const process of [signer, other, await ca.open()]) {
      await expect(
        process.signCertificate(await ca.request({ csr })),
      ).rejects.toThrow('The public key is blocked.');
    }
    await expect(
      signer.blockKey({ publicKeySha256: 'AB'.repeat(32) }),
    ).rejects.toThrow(SignerRefusalError);
  });

  it('limits the rate over all processes and restarts', async () => {
    const limit = { certificates: 3, perMs: MINUTE_MS };
    const limited = await ca.open({ limit });
    const requests = await Promise.all(
      Array.from({ length: 5 }, () => ca.request()),
    );
    const outcomes = await Promise.allSettled(
      requests.map(request => limited.signCertificate(request)),
    );
    const failed = outcomes.filter(({ status }) => status === 'rejected');
    expect(failed).toHaveLength(2);
    const later = await ca.open({ limit });
    const request = await ca.request();
    await expect(later.signCertificate(request)).rejects.toThrow(
      SignerUnavailableError,
    );
    ca.now += MINUTE_MS;
    await later.signCertificate(request);
  });

  it('counts certificates that could not be logged toward the rate limit', async () => {
    const limit = { certificates: 2, perMs: MINUTE_MS };
    const limited = await ca.open({ limit });
    const append = jest
      .spyOn(IssuanceLog.prototype, 'append')
      .mockRejectedValue(new SignerUnavailableError('The disk is full'));
    for (const message of ['The disk is full', 'The disk is full', /^More/]) {
      await expect(limited.signCertificate(await ca.request())).rejects.toThrow(
        message,
      );
    }
    append.mockRestore();
    ca.now += MINUTE_MS;
    await limited.signCertificate(await ca.request());
  });

  it('limits the rate of blocked keys', async () => {
    const block = (index: number) =>
      signer.blockKey({ publicKeySha256: String(index).padStart(64, '0') });
    await Promise.all(Array.from({ length: 1000 }, (_, index) => block(index)));
    await expect(block(1000)).rejects.toThrow(SignerUnavailableError);
    await block(1);
    ca.now += MINUTE_MS;
    await block(1000);
  });

  it('is unavailable while the key fails, and signs again afterwards', async () => {
    const key = signingKeyOf(newKey());
    let isPresent = false;
    const issuer = await createIssuer({
      key: {
        spki: key.spki,
        sign: async (data, hash) => {
          if (!isPresent) {
            throw new SignerUnavailableError('The token is not inserted');
          }
          return await key.sign(data, hash);
        },
      },
    });
    const external = await ca.open({ issuers: [issuer] });
    const request = await ca.request({ issuerId: issuer.id });
    await expect(external.signCertificate(request)).rejects.toThrow(
      'The token is not inserted',
    );
    await expect(
      external.signRevocationList(ca.crl(1, { issuerId: issuer.id })),
    ).rejects.toThrow('The token is not inserted');
    expect((await external.describe()).issuers).toHaveLength(1);
    isPresent = true;
    await external.signCertificate(request);
  });
});

describe('signRevocationList', () => {
  const revokedAt = new Date('2026-01-01T00:00:00Z');

  it('signs lists with increasing numbers and logs their entries', async () => {
    const request = await ca.request();
    await signer.signCertificate(request);
    const { serialNumber } = request;
    const entry = { serialNumber, revokedAt };
    const hold = { ...entry, reason: 'certificateHold' as const };
    await signer.signRevocationList(ca.crl(1));
    await signer.signRevocationList(ca.crl(2, { revoked: [hold] }));
    expect((await logged())[0].revocation).toEqual({
      revokedAt,
      reason: 'certificateHold',
    });
    await signer.signRevocationList(ca.crl(4));
    expect((await logged())[0].revocation).toBeUndefined();
    await signer.signRevocationList(ca.crl(5, { revoked: [hold] }));
    await signer.signRevocationList(ca.crl(6, { revoked: [entry] }));
    signer = await ca.open();
    expect((await logged())[0].revocation).toEqual({
      revokedAt,
      reason: 'unspecified',
    });
    expect((await signer.describe()).issuers[0].crlNumber).toBe(6n);
  });

  it('omits a revoked certificate from the list after it has expired', async () => {
    const request = await ca.request();
    await signer.signCertificate(request);
    const revoked = [{ serialNumber: request.serialNumber, revokedAt }];
    await signer.signRevocationList(ca.crl(1, { revoked }));
    ca.now = request.notAfter.getTime() + 6 * MINUTE_MS;
    await signer.signRevocationList(ca.crl(2));
    await signer.signRevocationList(ca.crl(3));
    expect((await logged())[0].revocation).toMatchObject({ revokedAt });
  });

  it('accepts a change in the revocation reason to keyCompromise', async () => {
    const revocation = { serialNumber: 12n, revokedAt };
    const revoked = [{ ...revocation, reason: 'keyCompromise' as const }];
    await signer.signRevocationList(ca.crl(1, { revoked: [revocation] }));
    await expect(
      signer.signRevocationList(ca.crl(2, { revoked })),
    ).resolves.toBeInstanceOf(Buffer);
  });

  it('accepts a list that omits a certificate that the log does not contain', async () => {
    const revoked = [{ serialNumber: 12n, revokedAt }];
    await signer.signRevocationList(ca.crl(1, { revoked }));
    await signer.signRevocationList(ca.crl(2));
    const other = await ca.open();
    await expect(other.signRevocationList(ca.crl(3))).resolves.toBeInstanceOf(
      Buffer,
    );
  });

  it.each<
    [string, RegExp, (serial: bigint) => Partial<SignRevocationListRequest>]
  >([
    ['an earlier number', /greater than 7/, () => ({ number: 6n })],
    ['the same number', /greater than 7/, () => ({ number: 7n })],
    [
      'a number that is too large for later lists to exceed',
      /at most 4294967303/,
      () => ({ number: 2n ** 159n - 1n }),
    ],
    [
      'a list without a revoked certificate',
      /is revoked and has not expired/,
      () => ({ revoked: [] }),
    ],
    [
      'a revoked certificate on hold',
      /cannot be put on hold/,
      serialNumber => ({
        revoked: [{ serialNumber, revokedAt, reason: 'certificateHold' }],
      }),
    ],
    [
      'a different revocation date',
      /with the same date/,
      serialNumber => ({
        revoked: [
          { serialNumber, revokedAt: new Date(), reason: 'keyCompromise' },
        ],
      }),
    ],
    [
      'a different revocation reason',
      /the same reason or keyCompromise/,
      serialNumber => ({ revoked: [{ serialNumber, revokedAt }] }),
    ],
    [
      'a certificate twice',
      /a certificate more than once/,
      serialNumber => ({
        revoked: [1, 2].map(() => ({ serialNumber, revokedAt })),
      }),
    ],
    [
      'an entry of a delta CRL',
      /only in delta CRLs/,
      serialNumber => ({
        revoked: [{ serialNumber, revokedAt, reason: 'removeFromCRL' }],
      }),
    ],
    [
      'a list that is valid for more than 31 days',
      /for more than 31 days/,
      () => ({ nextUpdate: new Date(ca.now + 32 * DAY_MS) }),
    ],
    [
      'a list that is valid in the future',
      /does not start now/,
      () => ({ thisUpdate: new Date(ca.now + DAY_MS) }),
    ],
    ['an unknown CA', /CA is unknown/, () => ({ issuerId: 'x' })],
  ])('refuses %s', async (_, message, change) => {
    const request = await ca.request();
    await signer.signCertificate(request);
    const { serialNumber } = request;
    const revoked = [
      { serialNumber, revokedAt, reason: 'keyCompromise' as const },
      { serialNumber: 12n, revokedAt },
    ];
    await signer.signRevocationList(ca.crl(7, { revoked }));
    const other = await ca.open();
    const refused = other.signRevocationList(
      ca.crl(8, { revoked, ...change(serialNumber) }),
    );
    await expect(refused).rejects.toThrow(SignerRefusalError);
    await expect(refused).rejects.toThrow(message);
    await other.signRevocationList(ca.crl(8, { revoked }));
  });

  it('limits the rate of lists', async () => {
    for (let number = 1; number <= 60; number += 1) {
      await signer.signRevocationList(ca.crl(number));
    }
    await expect(signer.signRevocationList(ca.crl(61))).rejects.toThrow(
      'More than 60 CRLs were requested in 60 seconds',
    );
    ca.now += MINUTE_MS;
    await signer.signRevocationList(ca.crl(61));
  });

  it('signs one of several concurrent lists with the same number', async () => {
    const outcomes = await Promise.allSettled(
      [1, 1, 2].map(number => signer.signRevocationList(ca.crl(number))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });
});

describe('open', () => {
  it('requires a folder that only its user can access', async () => {
    const { mode } = await stat(ca.folder);
    expect(mode & 0o077).toBe(0);
    await expect(ca.open({ logFolder: '/tmp' })).rejects.toThrow(
      'run chmod 700',
    );
  });

  it('requires a folder that its user owns', async () => {
    const geteuid = jest.spyOn(process, 'geteuid').mockReturnValue(12345);
    await expect(ca.open()).rejects.toThrow('it belongs to another user');
    geteuid.mockRestore();
    await ca.open();
  });

  it('reports a folder that cannot be created as unavailable', async () => {
    const file = join(ca.folder, 'file');
    await writeFile(file, '');
    await expect(ca.open({ logFolder: join(file, 'log') })).rejects.toThrow(
      SignerUnavailableError,
    );
  });

  it('requires CAs with different keys', async () => {
    for (const issuers of [[], [ca.issuer, ca.issuer]]) {
      await expect(ca.open({ issuers })).rejects.toThrow(TypeError);
    }
  });
});
