import {
  AuthorityRefusalError,
  OutcomeUnknownError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  createSigningRequest,
  RecordingLogger,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  type CertificateRequest,
  readCertificateRequest,
  writePem,
} from '@directory-gateway/x509';
import { importJWK, type JWK, SignJWT } from 'jose';
import { generateKeyPairSync, randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as sendRequest } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CASES, normalize, sendCase } from './__testUtils__/cases';
import { CuttingProxy } from './__testUtils__/CuttingProxy';
import { describeStepCa } from './__testUtils__/describeStepCa';
import { RealStepCa } from './__testUtils__/RealStepCa';
import { configOf, profile, user } from './__testUtils__/settings';
import { StepCaAuthority } from './StepCaAuthority';

jest.setTimeout(600_000);

const FIXTURE = join(__dirname, '__fixtures__/step-ca-0.19.json');
const CSRS = join(__dirname, '../../../packages/x509/src/__fixtures__/csrs');
const CUTS = Number(process.env.CUTS || 100);

let stepCa: RealStepCa;
let authority: StepCaAuthority;

beforeAll(async () => {
  stepCa = await RealStepCa.start();
  authority = authorityAt(stepCa.url);
});

afterAll(async () => {
  await stepCa?.stop();
});

function authorityAt(url: string): StepCaAuthority {
  return new StepCaAuthority({
    config: configOf(stepCa.files, url),
    logger: new RecordingLogger(),
  });
}

/** Returns serial numbers in step-ca's database, which stops in between. */
async function listAll() {
  await stepCa.pause();
  const serialNumbers = {
    signed: await stepCa.list('x509_certs'),
    revoked: await stepCa.list('revoked_x509_certs'),
    ssh: await stepCa.list('ssh_certs'),
  };
  await stepCa.resume();
  return serialNumbers;
}

const newRequest = (change: Partial<SigningRequest> = {}): SigningRequest => ({
  ...createSigningRequest({ ...user, profile }),
  ...change,
});

const toPem = (csr: Buffer) => writePem('CERTIFICATE REQUEST', csr);

describeStepCa({
  name: 'StepCaAuthority with step-ca',
  start: () => RealStepCa.start(),
});

it('responds as recorded', async () => {
  const config = configOf(stepCa.files, stepCa.url);
  const csr = toPem(newRequest().csr);
  const responses: Record<string, unknown> = {};
  for (const name of CASES) {
    responses[name] = normalize(await sendCase(name, { config, csr }));
  }
  const seen = { version: stepCa.version, responses };
  if (process.env.RECORD) {
    writeFileSync(FIXTURE, JSON.stringify(seen, null, 2));
  }
  expect(seen).toEqual(JSON.parse(readFileSync(FIXTURE, 'utf8')));
});

it('certifies names and usages, verified by OpenSSL with the root', async () => {
  const names = {
    emails: ['alice@example.test'],
    userPrincipalNames: ['alice@EXAMPLE.TEST'],
    kerberosPrincipalNames: [],
  };
  for (const change of [
    { alternativeNames: names },
    { profile: 'smartcard', alternativeNames: { ...names, emails: [] } },
  ]) {
    const signed = await authority.sign(newRequest(change));
    expect(await verify(signed.chain)).toBe('OK');
  }
});

/** Returns OpenSSL's verdict on a chain with step-ca's root, for TLS clients. */
async function verify(chain: readonly Buffer[]): Promise<string> {
  const { files } = stepCa;
  const pem = chain.map(der => writePem('CERTIFICATE', der)).join('');
  const file = await files.write('signed.pem', pem);
  const output = await files.openssl(
    ...['verify', '-x509_strict', '-purpose', 'sslclient'],
    ...['-CAfile', files.rootFile, '-untrusted', file, file],
  );
  return output.replace(`${file}: `, '').trim();
}

it(`has a record of each certificate after ${CUTS} cut connections`, async () => {
  const before = await listAll();
  const proxy = await CuttingProxy.start(stepCa);
  const signer = authorityAt(proxy.url);
  const records = new Map<string, 'valid' | 'abandoned'>();
  try {
    for (let count = 0; count < CUTS; count += 1) {
      proxy.cut = (['before', 'after', 'half'] as const)[count % 3];
      for (;;) {
        const request = newRequest();
        const serialNumber = request.serialNumber.toString();
        try {
          await signer.sign(request);
          records.set(serialNumber, 'valid');
          break;
        } catch (error) {
          if (!(error instanceof OutcomeUnknownError)) {
            throw error;
          }
          await authority.revoke({
            serialNumber: request.serialNumber,
            reason: 'superseded',
            revokedBy: 'the gateway',
          });
          records.set(serialNumber, 'abandoned');
        }
      }
    }
  } finally {
    await proxy.stop();
  }
  expect(proxy.cuts).toBe(CUTS);
  const after = await listAll();
  const signed = after.signed.filter(each => !before.signed.includes(each));
  expect(signed.filter(each => !records.has(each))).toEqual([]);
  expect(signed.filter(each => records.get(each) === 'valid').length).toBe(
    CUTS,
  );
  const abandoned = [...records.keys()].filter(
    each => records.get(each) === 'abandoned',
  );
  expect(abandoned.length).toBe(CUTS);
  expect(abandoned.filter(each => !after.revoked.includes(each))).toEqual([]);
});

it('signs nothing else with a stolen key of the provisioner', async () => {
  const jwk = await stepCa.files.provisionerKey();
  const key = await importJWK(jwk as JWK, 'ES256');
  const before = await listAll();
  const now = () => Math.floor(Date.now() / 1000);
  const post = async (path: string, claims: object, body: object) => {
    const token = await new SignJWT({
      iss: 'directory-gateway',
      aud: `${stepCa.url}${path}`,
      iat: now(),
      exp: now() + 300,
      jti: randomUUID(),
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: jwk.kid })
      .sign(key);
    return await send(path, { ott: token, ...body });
  };
  const csr = toPem(newRequest().csr);
  const certificate = (change: object = {}) => ({
    serialNumber: newRequest().serialNumber.toString(),
    profile,
    emails: [],
    userPrincipalNames: [],
    ...change,
  });
  const openssl = (subject: string, names?: string) =>
    stepCa.files.openssl(
      ...['req', '-new', '-newkey', 'ec', '-noenc'],
      ...['-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', 'thief.key'],
      ...['-subj', subject],
      ...(names ? ['-addext', `subjectAltName=${names}`] : []),
    );
  const steal = async (claims: object, body: object = {}, path = '/1.0/sign') =>
    await post(
      path,
      { sub: 'alice', sans: ['no-name@invalid'], ...claims },
      { csr, ...body },
    );
  const described = (change: object) => ({ certificate: certificate(change) });
  const attacks: Readonly<Record<string, () => Promise<{ status: number }>>> = {
    'a DNS name': async () =>
      steal(
        { sans: ['www.example.test'], ...described({}) },
        { csr: await openssl('/CN=alice', 'DNS:www.example.test') },
      ),
    'a DNS name in place of the subject': async () =>
      steal(
        { sans: undefined, ...described({}) },
        { csr: await openssl('/CN=alice', 'DNS:alice') },
      ),
    'an IP address': async () =>
      steal(
        { sans: ['192.0.2.1'], ...described({}) },
        { csr: await openssl('/CN=alice', 'IP:192.0.2.1') },
      ),
    'a URI': async () =>
      steal(
        { sans: ['https://example.test/'], ...described({}) },
        { csr: await openssl('/CN=alice', 'URI:https://example.test/') },
      ),
    'a Kerberos principal name': () =>
      steal(described({ kerberosPrincipalNames: ['alice@EXAMPLE.TEST'] })),
    'a directory name': () => steal(described({ directoryNames: ['CN=bob'] })),
    'a CA': () => steal(described({ basicConstraints: { isCA: true } })),
    'server authentication': () => steal(described({ extKeyUsage: ['any'] })),
    'server authentication by a profile': () =>
      steal(described({ profile: 'serverAuth' })),
    'signing of certificates': () =>
      steal(described({ keyUsage: ['certSign'] })),
    'ten years': () => steal(described({}), { notAfter: '87600h' }),
    'a start in ten years': () =>
      steal(described({}), { notBefore: '87600h', notAfter: '87700h' }),
    'a user principal name of a foreign realm': () =>
      steal(described({ userPrincipalNames: ['alice@OTHER.TEST'] })),
    'a user principal name with a line feed': () =>
      steal(described({ userPrincipalNames: ['alice@EXAMPLE.TEST\n'] })),
    'an e-mail address of a foreign domain': () =>
      steal({
        sans: ['alice@other.test'],
        ...described({ emails: ['alice@other.test'] }),
      }),
    'an e-mail address with two domains': () =>
      steal({
        sans: ['a@other.test@example.test'],
        ...described({ emails: ['a@other.test@example.test'] }),
      }),
    'another CN than the subject': async () =>
      steal(described({}), { csr: await openssl('/CN=bob') }),
    'a CN in the token': () => steal({ cn: 'bob', ...described({}) }),
    'a subject that is not a user name': async () =>
      steal(
        { sub: 'alice\nadmin', ...described({}) },
        { csr: await openssl('/O=none') },
      ),
    'JSON in the subject': async () =>
      steal(
        { sub: '"},"isCA":true,"x":{"', ...described({}) },
        { csr: await openssl('/O=none') },
      ),
    'data for the template': () =>
      steal({}, { templateData: { certificate: certificate() } }),
    'a serial number in hexadecimal': () =>
      steal(described({ serialNumber: '0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF' })),
    'an SSH certificate': async () => {
      const { publicKey } = generateKeyPairSync('ed25519');
      const raw = publicKey
        .export({ type: 'spki', format: 'der' })
        .subarray(12);
      const field = (value: Buffer) => {
        const length = Buffer.alloc(4);
        length.writeUInt32BE(value.length);
        return Buffer.concat([length, value]);
      };
      const sshKey = [Buffer.from('ssh-ed25519'), raw].map(field);
      return await steal(
        { step: { ssh: { certType: 'user', principals: ['root'] } } },
        {
          publicKey: Buffer.concat(sshKey).toString('base64'),
          certType: 'user',
          keyID: 'alice',
          principals: ['root'],
        },
        '/1.0/ssh/sign',
      );
    },
  };
  const refused: string[] = [];
  for (const [name, attack] of Object.entries(attacks)) {
    const { status } = await attack();
    // Not 401: the token itself is valid.
    if ([400, 403, 500, 501].includes(status)) {
      refused.push(name);
    }
  }
  expect(refused.length).toBeGreaterThanOrEqual(20);
  expect(refused).toEqual(Object.keys(attacks));
  expect(await listAll()).toEqual(before);

  // What a thief still gets, see docs/security.md.
  expect(await steal(described({}))).toMatchObject({ status: 201 });
});

/** Sends a request as a client without the gateway. */
async function send(
  path: string,
  body: object,
  options: {
    readonly key?: string;
    readonly cert?: string;
    readonly target?: RealStepCa;
  } = {},
): Promise<{ status: number; body: string }> {
  const { target = stepCa, ...identity } = options;
  const agent = new Agent({ ca: readFileSync(target.files.rootFile) });
  return await new Promise((resolve, reject) => {
    const request = sendRequest(
      `${target.url}${path}`,
      { method: 'POST', agent, ...identity },
      response => {
        text(response).then(content => {
          agent.destroy();
          resolve({ status: response.statusCode!, body: content });
        }, reject);
      },
    );
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

describe('a certificate', () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = keys.privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
  const rekey = () => ({ csr: toPem(newRequest().csr) });

  it.each(['/1.0/renew', '/1.0/rekey'])(
    'of the gateway is refused by %s, before and after its revocation',
    async path => {
      const request = {
        ...newRequest(),
        ...createSigningRequest({ ...user, profile, key: keys }),
      };
      const signed = await authority.sign(request);
      const cert = signed.chain
        .map(der => writePem('CERTIFICATE', der))
        .join('');
      const before = await listAll();
      const response = await send(path, rekey(), { key, cert });
      expect(response.status).toBe(401);
      await authority.revoke({
        serialNumber: request.serialNumber,
        reason: 'keyCompromise',
        revokedBy: 'user:default/alice',
      });
      const again = await send(path, rekey(), { key, cert });
      expect(again.status).toBe(401);
      expect((await listAll()).signed).toEqual(before.signed);
    },
  );

  it.each(['/1.0/renew', '/1.0/rekey'])(
    'of another root is refused by %s',
    async path => {
      const other = await RealStepCa.start();
      try {
        const signed = await new StepCaAuthority({
          config: configOf(other.files, other.url),
          logger: new RecordingLogger(),
        }).sign(createSigningRequest({ ...user, profile, key: keys }));
        const cert = signed.chain
          .map(der => writePem('CERTIFICATE', der))
          .join('');
        const before = await listAll();
        await expect(send(path, rekey(), { key, cert })).rejects.toThrow();
        expect(await listAll()).toEqual(before);
      } finally {
        await other.stop();
      }
    },
  );
});

it('renews certificates of other CAs below its root, which must therefore be separate', async () => {
  const { files } = stepCa;
  const identity = await files.issue('other', {
    issuer: 'root',
    subject: '/CN=alice',
    extensions: 'extendedKeyUsage=clientAuth',
  });
  const { status } = await send('/1.0/renew', {}, identity);
  expect(status).toBe(201);
});

it('does not sign when step-ca would renew certificates', async () => {
  const target = await RealStepCa.start();
  try {
    const unsafe = new StepCaAuthority({
      config: configOf(target.files, target.url),
      logger: new RecordingLogger(),
    });
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { chain } = await unsafe.sign(
      createSigningRequest({ ...user, profile, key: keys }),
    );
    const identity = {
      key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      cert: chain.map(der => writePem('CERTIFICATE', der)).join(''),
    };
    await target.pause();
    await target.configure(provisioner => ({
      ...provisioner,
      claims: { ...provisioner.claims, disableRenewal: false },
    }));
    await target.resume();
    const renewed = await send('/1.0/renew', {}, { ...identity, target });
    expect(renewed.status).toBe(201);
    await expect(unsafe.sign(newRequest())).rejects.toThrow(
      'claims.disableRenewal must be true',
    );
    await expect(unsafe.start()).rejects.toThrow('claims.disableRenewal');
  } finally {
    await target.stop();
  }
});

it('signs the valid requests of the corpus, and none that the intake refuses', async () => {
  const verdicts = new Map<string, string>();
  const rows = readFileSync(join(CSRS, 'manifest.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  for (const { file, expected } of rows) {
    const parsed = readCertificateRequest(
      readFileSync(join(CSRS, file), 'utf8'),
    );
    if (!parsed.ok) {
      verdicts.set(file, expected === 'reject' ? 'right' : 'wrong');
      continue;
    }
    const { csr } = parsed;
    const outcome = await authority
      .sign(newRequest(approve(csr)))
      .then(async signed => {
        const { subject, ca } = new X509Certificate(signed.chain[0]);
        return `${subject} ${ca} ${await verify(signed.chain)}`;
      })
      .catch((error: Error) => error.name);
    // The policy of the gateway refuses names that only the CSR contains;
    // the certificate never has them.
    const right =
      expected === 'sign'
        ? ['CN=alice false OK']
        : ['CN=alice false OK', AuthorityRefusalError.name];
    verdicts.set(file, right.includes(outcome) ? 'right' : outcome);
  }
  expect([...verdicts].filter(([, verdict]) => verdict !== 'right')).toEqual(
    [],
  );
  expect(verdicts.size).toBe(rows.length);
});

/** Returns what the gateway approves of alice's request. */
function approve(csr: CertificateRequest): Partial<SigningRequest> {
  const valuesOf = (kind: string, allowed: string) =>
    csr.alternativeNames.flatMap(name =>
      name.kind === kind && 'value' in name && name.value === allowed
        ? [allowed]
        : [],
    );
  return {
    csr: csr.der,
    publicKey: csr.publicKey.spki,
    alternativeNames: {
      emails: valuesOf('rfc822Name', 'alice@example.test'),
      userPrincipalNames: valuesOf('userPrincipalName', user.principal),
      kerberosPrincipalNames: [],
    },
  };
}
