import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  OutcomeUnknownError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  createSigningRequest,
  RecordingLogger,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { FakeStepCa } from './__testUtils__/FakeStepCa';
import { configOf, profile, user } from './__testUtils__/settings';
import { StepCaFiles } from './__testUtils__/StepCaFiles';
import { StepCaAuthority } from './StepCaAuthority';
import type { StepCaConfig } from './StepCaConfig';

/** Long, for OpenSSL's processes on a busy machine. */
jest.setTimeout(180_000);

const DAY_MS = 24 * 3_600_000;

let fake: FakeStepCa;
let logger: RecordingLogger;

beforeAll(async () => {
  fake = await FakeStepCa.start();
});

beforeEach(async () => {
  await fake.reset();
  logger = new RecordingLogger();
});

afterAll(async () => {
  await fake?.stop();
});

function create(change: Partial<StepCaConfig> = {}): StepCaAuthority {
  const config = { ...configOf(fake.files, fake.url), ...change };
  return new StepCaAuthority({ config, logger });
}

const newRequest = (change: Partial<SigningRequest> = {}): SigningRequest => ({
  ...createSigningRequest({ ...user, profile }),
  ...change,
});

const revocation = (serialNumber: bigint) =>
  ({
    serialNumber,
    reason: 'keyCompromise',
    revokedBy: 'user:default/admin',
  }) as const;

/** Handles requests for a path instead of the fake. */
function intercept(
  path: string,
  handle: (req: IncomingMessage, res: ServerResponse) => void,
): void {
  fake.intercept = (req, res) => {
    if (req.url !== path) {
      return false;
    }
    handle(req, res);
    return true;
  };
}

const respond = (status: number, body: object = {}) =>
  ((_req, res) =>
    res.writeHead(status).end(JSON.stringify(body))) satisfies Parameters<
    typeof intercept
  >[1];

/** Changes of the provisioner by the text of the problem. */
const UNSAFE: readonly [
  string,
  (provisioner: FakeStepCa['provisioner']) => object,
][] = [
  [
    'step-ca has no JWK provisioner "directory-gateway" with the key',
    provisioner => ({ key: { ...provisioner.key, kid: 'other' } }),
  ],
  ['step-ca has no JWK provisioner', () => ({ name: 'other' })],
  ['step-ca has no JWK provisioner', () => ({ type: 'OIDC' })],
  [
    'claims.disableRenewal must be true',
    ({ claims }) => ({ claims: { ...claims, disableRenewal: undefined } }),
  ],
  [
    'claims.disableSmallstepExtensions must not be set',
    ({ claims }) => ({
      claims: { ...claims, disableSmallstepExtensions: true },
    }),
  ],
  [
    'claims.maxTLSCertDuration must be at least 168h',
    ({ claims }) => ({
      claims: { ...claims, maxTLSCertDuration: '167h59m0s' },
    }),
  ],
  [
    'claims.maxTLSCertDuration must be at least 168h',
    ({ claims }) => ({ claims: { ...claims, maxTLSCertDuration: undefined } }),
  ],
  [
    'claims.enableSSHCA must be false',
    ({ claims }) => ({ claims: { ...claims, enableSSHCA: undefined } }),
  ],
  ['encryptedKey must be removed', () => ({ encryptedKey: 'eyJhbGciOi…' })],
  [
    'options.x509.templateFile must be directory-gateway.tpl',
    ({ options: { x509 } }) => ({
      options: { x509: { ...x509, templateFile: undefined } },
    }),
  ],
  [
    'options.x509.templateData.directory.profiles.userCerts must be ["clientAuth"]',
    () => ({
      options: {
        x509: {
          templateFile: 'other',
          templateData: {
            directory: {
              profiles: {
                userCerts: ['clientAuth', 'serverAuth'],
                smartcard: ['clientAuth', '1.3.6.1.4.1.311.20.2.2'],
              },
            },
          },
        },
      },
    }),
  ],
];

describe('start', () => {
  it('accepts the documented provisioner', async () => {
    await create().start();
    expect(logger.lines).toEqual([]);
  });

  it.each(UNSAFE)('refuses an unsafe provisioner: %s', async (why, change) => {
    Object.assign(fake.provisioner, change(fake.provisioner));
    await expect(create().start()).rejects.toThrow(why);
  });

  it('warns about a validity of more than 7 days', async () => {
    fake.provisioner.claims.maxTLSCertDuration = '720h0m0s';
    const long = { validityMs: 8 * DAY_MS, extendedKeyUsage: ['clientAuth'] };
    await create({ profiles: new Map([[profile, long]]) }).start();
    expect(logger.lines).toEqual([
      expect.stringMatching(
        /^warn The certificates of the profile userCerts are valid for more than 7 days/,
      ),
    ]);
  });

  it('succeeds while step-ca is down, and signs when it responds', async () => {
    const authority = create();
    await fake.pause();
    await authority.start();
    expect(logger.lines).toEqual([
      expect.stringMatching(/^warn step-ca cannot be checked/),
    ]);
    await expect(authority.sign(newRequest())).rejects.toThrow(
      AuthorityUnavailableError,
    );
    await fake.resume();
    await expect(authority.sign(newRequest())).resolves.toBeDefined();
  });
});

describe('sign', () => {
  it('certifies the names and usages of the request', async () => {
    const { files } = fake;
    const csr = await files.openssl(
      ...['req', '-new', '-newkey', 'ec', '-noenc', '-outform', 'DER'],
      ...['-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', 'alice.key'],
      ...['-subj', '/CN=alice', '-out', 'alice.csr'],
      ...['-addext', 'subjectAltName=email:alice@example.test'],
    );
    expect(csr).toBe('');
    const publicKey = await files.openssl(
      ...['pkey', '-in', 'alice.key', '-pubout'],
    );
    const request = newRequest({
      profile: 'smartcard',
      csr: await files.readBytes('alice.csr'),
      publicKey: Buffer.from(
        publicKey.replace(/-----[^-]+-----/g, ''),
        'base64',
      ),
      alternativeNames: {
        emails: ['alice@example.test'],
        userPrincipalNames: ['alice@EXAMPLE.TEST'],
        kerberosPrincipalNames: [],
      },
    });
    const { certificate, chain } = await create().sign(request);
    const { description } = certificate;
    expect(description).toMatchObject({
      ok: true,
      certificate: {
        subject: 'CN=alice',
        serialNumber: request.serialNumber,
        extendedKeyUsage: ['clientAuth', 'smartcardLogon'],
        san: {
          rfc822Name: ['alice@example.test'],
          otherUpn: ['alice@EXAMPLE.TEST'],
        },
      },
    });
    expect(chain.length).toBe(2);
  });

  it('never exceeds the validity of the issuer', async () => {
    const short = await FakeStepCa.start({ days: 1 });
    try {
      const authority = new StepCaAuthority({
        config: configOf(short.files, short.url),
        logger,
      });
      const { chain } = await authority.sign(newRequest());
      const [leaf, issuer] = chain.map(der => new X509Certificate(der));
      expect(leaf.validTo).toBe(issuer.validTo);
    } finally {
      await short.stop();
    }
  });

  it.each(UNSAFE)(
    'does not send a request to an unsafe provisioner: %s',
    async (why, change) => {
      const authority = create();
      await authority.start();
      Object.assign(fake.provisioner, change(fake.provisioner));
      const error = await authority.sign(newRequest()).catch(each => each);
      expect(error).toBeInstanceOf(AuthorityUnavailableError);
      expect(error.message).toContain(why);
      expect(fake.requests).not.toContain('POST /1.0/sign');
    },
  );

  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  it.each<[string, FakeStepCa['change']]>([
    ['serial number', { serialNumber: 12345n }],
    [
      'key',
      { spki: otherKey.publicKey.export({ type: 'spki', format: 'der' }) },
    ],
    ['subject', { subject: [{ type: 'CN', value: 'bob' }] }],
    [
      'subject',
      {
        subject: [
          { type: 'O', value: 'EXAMPLE.TEST' },
          { type: 'CN', value: 'alice' },
        ],
      },
    ],
    [
      'subject alternative name',
      {
        extensions: {
          alternativeNames: [{ kind: 'uri', value: 'https://example.test/' }],
        },
      },
    ],
    [
      'key usage',
      {
        extensions: {
          keyUsage: ['digitalSignature', 'keyCertSign'],
        },
      },
    ],
    [
      'extended key usage',
      {
        extensions: {
          extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'],
        },
      },
    ],
    ['type (CA)', { extensions: { ca: true } }],
    ['start', { notBefore: new Date(Date.now() + DAY_MS) }],
    ['end', { notAfter: new Date(Date.now() + 8 * DAY_MS) }],
    ['end', { notAfter: new Date(Date.now() + DAY_MS) }],
  ])('revokes a certificate with another %s', async (field, change) => {
    fake.change = change;
    const request = newRequest();
    const error = await create()
      .sign(request)
      .catch(each => each);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error.message).toMatch(/^step-ca signed a certificate \(\w+\)/);
    expect(error.message.split(' with another ')[1]).toBe(field);
    expect([...fake.revoked.keys()]).toEqual([...fake.signed]);
    expect(fake.signed.size).toBe(1);
  });

  it.each<[string, new (message: string) => Error, number]>([
    ['refuses the request', AuthorityRefusalError, 400],
    ['refuses the request', AuthorityRefusalError, 403],
    ['refuses the token', AuthorityUnavailableError, 401],
    ['does not know the path', AuthorityUnavailableError, 404],
    ['fails', OutcomeUnknownError, 500],
    ['redirects', OutcomeUnknownError, 307],
    ['returns an invalid body', OutcomeUnknownError, 201],
  ])('reports that step-ca %s', async (_why, type, status) => {
    intercept('/1.0/sign', (_req, res) =>
      res.writeHead(status, { location: '/1.0/other' }).end('{}'),
    );
    await expect(create().sign(newRequest())).rejects.toThrow(type);
    expect(fake.requests).not.toContain('POST /1.0/other');
  });

  it.each<[string, Parameters<typeof intercept>[1]]>([
    ['is cut', req => req.socket.destroy()],
    [
      'is cut in the response',
      (req, res) => {
        res.writeHead(201, { 'content-length': 100 });
        res.write('{"crt":', () => req.socket.destroy());
      },
    ],
    ['has too many bytes', respond(201, { crt: 'x'.repeat(2_000_000) })],
    ['has a chain that is not valid', respond(201, { certChain: ['x', 'y'] })],
  ])(
    'reports an unknown outcome when the response %s',
    async (_why, handle) => {
      intercept('/1.0/sign', handle);
      await expect(create().sign(newRequest())).rejects.toThrow(
        OutcomeUnknownError,
      );
      expect(
        fake.requests.filter(each => each === 'POST /1.0/sign').length,
      ).toBe(1);
    },
  );

  it('reports an unknown outcome when step-ca does not respond in time', async () => {
    intercept('/1.0/sign', () => {});
    // Long enough for the check of the provisioner.
    const authority = create({ requestTimeoutMs: 2000 });
    await expect(authority.sign(newRequest())).rejects.toThrow(
      OutcomeUnknownError,
    );
  });

  it('is not available when the TLS handshake does not finish', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    try {
      const authority = create({
        url: `https://localhost:${port}`,
        requestTimeoutMs: 200,
      });
      await expect(authority.sign(newRequest())).rejects.toThrow(
        AuthorityUnavailableError,
      );
    } finally {
      silent.close();
    }
  });

  it('does not send anything to a server with another root', async () => {
    const other = await StepCaFiles.create();
    try {
      const { rootFile } = other;
      await expect(create({ rootFile }).sign(newRequest())).rejects.toThrow(
        AuthorityUnavailableError,
      );
      expect(fake.requests).toEqual([]);
    } finally {
      await other.remove();
    }
  });

  it('does not trust the CAs of Node.js when the root is missing', async () => {
    const rootFile = await fake.files.write('empty.pem', '');
    await expect(create({ rootFile }).sign(newRequest())).rejects.toThrow(
      'does not contain a certificate',
    );
  });

  it('does not use a key that other users can read', async () => {
    await chmod(fake.files.provisionerKeyFile, 0o644);
    await expect(create().sign(newRequest())).rejects.toThrow(
      'is accessible to other users',
    );
    expect(fake.requests).not.toContain('POST /1.0/sign');
  });

  it.each(['', 'secret', '{"kty":"EC","d":"secret"}', '{"kty":"RSA"}'])(
    'does not reveal an invalid key: %s',
    async text => {
      await fake.files.write('provisioner.jwk', text);
      const error = await create()
        .sign(newRequest())
        .catch(each => each);
      expect(error).toBeInstanceOf(AuthorityUnavailableError);
      expect(error.message).toMatch(/is not a private JWK of the curve P-256/);
      expect(error.message).not.toContain('secret');
    },
  );
});

describe('revoke', () => {
  it('revokes with the reason code, also when it is repeated', async () => {
    const authority = create();
    expect(await authority.revoke(revocation(5n))).toEqual({
      reason: 1,
      revokedAt: expect.any(Date),
    });
    expect(await authority.revoke(revocation(5n))).toEqual({ reason: 1 });
    expect([...fake.revoked]).toEqual([['5', 1]]);
  });

  it('does not depend on the check of the provisioner', async () => {
    Object.assign(fake.provisioner, { encryptedKey: 'eyJhbGciOi…' });
    await create().revoke(revocation(5n));
    expect(fake.revoked.size).toBe(1);
  });

  it.each<[string, Parameters<typeof intercept>[1]]>([
    ['fails', respond(500)],
    ['refuses the token', respond(401)],
    ['refuses the request', respond(400, { message: 'missing serial' })],
    ['cuts the connection', req => req.socket.destroy()],
  ])('is not available when step-ca %s', async (_why, handle) => {
    intercept('/1.0/revoke', handle);
    await expect(create().revoke(revocation(5n))).rejects.toThrow(
      AuthorityUnavailableError,
    );
  });

  it('is not available without the key', async () => {
    await rm(fake.files.provisionerKeyFile);
    await expect(create().revoke(revocation(5n))).rejects.toThrow(
      AuthorityUnavailableError,
    );
  });
});
