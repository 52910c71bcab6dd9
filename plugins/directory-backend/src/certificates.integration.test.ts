import { startRealm, type Realm } from '@directory-gateway/realm';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './__testUtils__/eventually';
import { GatewayClient, type Answer } from './__testUtils__/GatewayClient';
import { makeCsr } from './__testUtils__/makeCsr';
import { startGateway, type Gateway } from './__testUtils__/startGateway';
import { TokenClient } from './__testUtils__/TokenClient';

jest.setTimeout(180_000);

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    // The whole portal: its request log is part of what is tested.
    entry: 'packages/backend/src/index.ts',
    directory: {
      certificates: {
        authority: 'embedded',
        profiles: [
          { name: 'userCerts', purpose: 'Signing in' },
          { name: 'builders', allowedGroups: ['admins', 'ProvenPackager'] },
        ],
        embedded: {
          organization: realm.realm,
          keyFile: `${realm.dir}/ca-key.pem`,
          profiles: [
            { name: 'userCerts' },
            {
              name: 'builders',
              validity: 'PT36H',
              extendedKeyUsage: ['clientAuth', '1.3.6.1.4.1.5'],
            },
          ],
        },
        signers: { principals: ['bot/builder.example.test'] },
        limit: { requests: 25 },
      },
    },
  });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

const form = (parameters: Record<string, string>) => ({
  method: 'POST',
  body: String(new URLSearchParams(parameters)),
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
});
/** As `curl -F` sends it. */
const multipart = (parameters: Record<string, string>) => ({
  method: 'POST',
  body: [
    ...Object.entries(parameters).map(
      ([name, value]) =>
        `--frame\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
    '--frame--\r\n',
  ].join(''),
  headers: { 'Content-Type': 'multipart/form-data; boundary=frame' },
});
const result = (answer: Answer) =>
  (answer.json as { result: Record<string, unknown> }).result;

describe('POST /certs/', () => {
  const csr = makeCsr({ subject: '/CN=alice' });

  it.each([
    ['a form', () => form({ user: 'alice', csr })],
    ['a multipart form', () => multipart({ user: 'alice', csr })],
    [
      'JSON',
      () => ({
        method: 'POST',
        body: JSON.stringify({ user: 'alice', csr }),
        headers: { 'Content-Type': 'application/json' },
      }),
    ],
  ])('signs what %s asks for oneself', async (_what, request) => {
    const answer = await client.ask('/v1/certs/', {
      as: 'alice',
      ...request(),
    });
    expect(answer.status).toBe(200);
    expect(result(answer)).toMatchObject({
      subject: 'CN=alice,O=EXAMPLE.TEST',
      revoked: false,
    });
  });

  it.each([
    ['without a frame', 'multipart/form-data', '--frame--'],
    ['broken off', 'multipart/form-data; boundary=frame', '--frame\r\nCon'],
  ])('refuses a multipart form %s', async (_what, type, body) => {
    const answer = await client.ask('/v1/certs/', {
      ...{ as: 'alice', method: 'POST', body },
      headers: { 'Content-Type': type },
    });
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { message: 'Input payload validation failed' },
    ]);
  });

  it('signs what the query asks for, and reads it back by its number', async () => {
    const query = new URLSearchParams({ user: 'alice', csr });
    const signed = await client.ask(`/v1/certs/?${query}`, {
      as: 'alice',
      method: 'POST',
    });
    const serial = /"serial_number": ?(\d+)/.exec(signed.text)![1];
    const read = await client.ask(`/v1/certs/${serial}/`, { as: 'bob' });
    expect(serial.length).toBeGreaterThan(30);
    expect(read.text).toBe(signed.text);
  });

  it('answers with what OpenSSL reads in the same way, and verifies', async () => {
    const answer = await client.ask('/v1/certs/', {
      as: 'alice',
      ...form({ user: 'alice', csr }),
    });
    const signed = result(answer);
    const [, root] = signed.certificate_chain as string[];
    const folder = await mkdtemp(join(tmpdir(), 'signed-'));
    try {
      const [leafFile, rootFile] = ['leaf', 'root'].map(name =>
        join(folder, `${name}.pem`),
      );
      await writeFile(leafFile, String(signed.certificate));
      await writeFile(
        rootFile,
        `-----BEGIN CERTIFICATE-----\n${root}\n-----END CERTIFICATE-----\n`,
      );
      const openssl = (...args: readonly string[]) =>
        execFileSync('openssl', args, { encoding: 'utf8' });
      const purpose = ['-purpose', 'sslclient'];
      expect(
        openssl('verify', ...purpose, '-CAfile', rootFile, leafFile),
      ).toContain(': OK');
      const facts = openssl(
        ...['x509', '-in', leafFile, '-noout', '-nameopt', 'RFC2253'],
        ...['-subject', '-issuer', '-serial', '-fingerprint', '-sha256'],
      );
      const serial = String(signed.serial_number_hex).replace('0x', '');
      const fingerprint = String(signed.sha256_fingerprint).toUpperCase();
      expect(facts).toContain(`subject=${signed.subject}\n`);
      expect(facts).toContain(`issuer=${signed.issuer}\n`);
      expect(facts).toMatch(new RegExp(`serial=0?${serial}\n`));
      expect(facts).toContain(fingerprint);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('gives the verdict rule by rule, without signing', async () => {
    const answer = await client.ask('/v1/certs/', {
      as: 'alice',
      ...form({
        user: 'alice',
        csr: makeCsr({ subject: '/CN=admin' }),
        dry_run: 'true',
      }),
    });
    expect(result(answer)).toMatchObject({
      would_sign: false,
      rules: expect.arrayContaining([
        {
          rule: 'common_name',
          passed: false,
          message: expect.stringContaining('user name'),
        },
      ]),
    });
  });

  it.each([
    ['for somebody else', 'bob', 'alice', {}, 403, 'requester'],
    ['for nobody', 'alice', 'nobody', {}, 400, 'principal'],
    [
      'for a locked user',
      'bot/builder.example.test',
      'carol',
      {},
      400,
      'principal',
    ],
    [
      'for an administrator',
      'bot/builder.example.test',
      'admin',
      {},
      403,
      'requester',
    ],
    ['of another profile', 'alice', 'alice', { profile: 'x' }, 400, 'profile'],
    ['that cannot be read', 'alice', 'alice', { csr: 'x' }, 400, 'request'],
  ])('refuses a request %s', async (_what, as, user, changes, status, rule) => {
    const answer = await client.ask('/v1/certs/', {
      as,
      ...form({ user, csr, ...changes }),
    });
    expect([answer.status, answer.json]).toEqual([
      status,
      expect.objectContaining({ rule }),
    ]);
  });

  it('lets a signer ask for others', async () => {
    const answer = await client.ask('/v1/certs/', {
      as: 'bot/builder.example.test',
      ...form({ user: 'bob', csr: makeCsr({ subject: '/CN=bob' }) }),
    });
    expect(result(answer)).toMatchObject({ owner_user: ['bob'] });
  });

  it('adds what was signed to the certificates of its user', async () => {
    const signed = await client.ask('/v1/certs/', {
      as: 'bot/builder.example.test',
      ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
    });
    const [der] = result(signed).certificate_chain as string[];
    const user = await client.ask('/v1/users/erin/', { as: 'alice' });
    expect(result(user).certificates).toContain(der);
  });

  it('names what is missing', async () => {
    const answer = await client.ask('/v1/certs/', {
      as: 'alice',
      ...form({ user: 'alice' }),
    });
    expect(answer.json).toMatchObject({
      message: 'Input payload validation failed',
      errors: {
        csr: 'Certificate Signing Request. Missing required parameter in the JSON body or the post body or the query string',
      },
    });
  });

  it('is 413 over 64 KiB, and 400 for what is no JSON', async () => {
    const large = await client.ask('/v1/certs/', {
      as: 'alice',
      ...form({ user: 'alice', csr: 'A'.repeat(70_000) }),
    });
    const broken = await client.ask('/v1/certs/', {
      as: 'alice',
      method: 'POST',
      body: '{"user":',
      headers: { 'Content-Type': 'application/json' },
    });
    expect([large.status, broken.status]).toEqual([413, 400]);
  });

  it.each([
    ['Origin', 'https://evil.example'],
    ['Origin', 'null'],
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Site', 'same-site'],
  ])('refuses a page with %s: %s, on record', async (name, value) => {
    const failures = () =>
      gateway
        .log()
        .split('\n')
        .filter(line => /certificate-sign.*failed/.test(line));
    const before = failures().length;
    const request = form({ user: 'alice', csr });
    const answer = await client.ask('/v1/certs/', {
      as: 'alice',
      ...request,
      headers: { ...request.headers, [name]: value },
    });
    expect(answer.status).toBe(403);
    await eventually(() => expect(failures()).toHaveLength(before + 1));
    expect(failures().at(-1)).toContain('alice');
  });

  /** Asks in a form, in JSON and in the query; resolves with the statuses. */
  async function askThreeWays(parameters: {
    readonly user: string;
    readonly csr: string;
  }): Promise<readonly number[]> {
    const inForm = await client.ask('/v1/certs/', {
      as: 'alice',
      ...form(parameters),
    });
    const inJson = await client.ask('/v1/certs/', {
      as: 'alice',
      method: 'POST',
      body: JSON.stringify(parameters),
      headers: { 'Content-Type': 'application/json' },
    });
    const inQuery = await client.ask(
      `/v1/certs/?${new URLSearchParams(parameters)}`,
      { as: 'alice', method: 'POST' },
    );
    return [inForm.status, inJson.status, inQuery.status];
  }

  it('keeps the request out of every log, however it is sent', async () => {
    const challenge = 'MarkerMarkerMarker';
    const marked = makeCsr({ subject: '/CN=alice', challenge });
    const line = marked.split('\n')[2];
    const statuses = await askThreeWays({ user: 'alice', csr: marked });
    expect(statuses).toEqual([200, 200, 200]);
    const log = gateway.log();
    expect(log).toContain('certificate-sign');
    for (const secret of [challenge, line, encodeURIComponent(line)]) {
      expect(log).not.toContain(secret);
    }
  });

  it('refuses a private key, and keeps it out of every log', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const line = key.split('\n')[2];
    const statuses = await askThreeWays({ user: 'alice', csr: csr + key });
    expect(statuses).toEqual([400, 400, 400]);
    expect(gateway.log()).not.toContain(line);
    expect(gateway.log()).not.toContain(encodeURIComponent(line));
  });

  it('is 429 with Retry-After when one caller asks too often', async () => {
    const ask = () =>
      client.ask('/v1/certs/', {
        as: 'dave',
        ...form({ user: 'dave', csr, dry_run: 'true' }),
      });
    let answer = await ask();
    for (let asked = 1; asked < 40 && answer.status !== 429; asked++) {
      answer = await ask();
    }
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

describe('GET /certs/profiles/', () => {
  const userCerts = {
    name: 'userCerts',
    purpose: 'Signing in',
    lifetime: 'P30D',
    extended_key_usage: ['clientAuth'],
    is_default: true,
  };
  const builders = {
    name: 'builders',
    purpose: null,
    lifetime: 'P1DT12H',
    extended_key_usage: ['clientAuth', '1.3.6.1.4.1.5'],
    is_default: false,
  };

  it.each([
    // In a group that is nested in one of the two.
    ['erin', [userCerts, builders]],
    ['alice', [userCerts]],
    ['bot/builder.example.test', [userCerts]],
  ])('lists what is open to %s', async (as, profiles) => {
    const answer = await client.ask('/v1/certs/profiles/', { as });
    expect(answer.json).toEqual({ result: profiles });
  });

  it('honours a mask', async () => {
    const answer = await client.ask('/v1/certs/profiles/', {
      as: 'alice',
      headers: { 'X-Fields': 'lifetime,name,nope' },
    });
    expect(answer.json).toEqual({
      result: [{ lifetime: 'P30D', name: 'userCerts' }],
    });
  });

  it('is for those who are somebody in the directory', async () => {
    const anonymous = await client.ask('/v1/certs/profiles/');
    const stranger = await TokenClient.signIn(gateway);
    const strange = await stranger.ask('/v1/certs/profiles/');
    expect([anonymous.status, strange.status]).toEqual([401, 403]);
  });
});

describe('GET /users/{username}/certificates/', () => {
  const list = async (path: string, as = 'alice') => {
    const answer = await client.ask(`/v1/users/${path}`, { as });
    return (answer.json as { result: Record<string, unknown>[] }).result;
  };

  it('shows whole certificates, newest first, page by page', async () => {
    const request = () =>
      client.ask('/v1/certs/', {
        as: 'bot/builder.example.test',
        ...form({ user: 'erin', csr: makeCsr({ subject: '/CN=erin' }) }),
      });
    const signed = [await request(), await request()].map(result);
    const all = await list('erin/certificates/');
    const pages = await Promise.all(
      all.map((_, index) =>
        list(`erin/certificates/?page_size=1&page_number=${index + 1}`),
      ),
    );
    expect(all.length).toBeGreaterThan(1);
    expect(all).toEqual(expect.arrayContaining(signed));
    expect(pages.flat()).toEqual(all);
    const times = all.map(({ valid_not_before }) =>
      Date.parse(String(valid_not_before)),
    );
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('honours a mask, and knows no user that is not there', async () => {
    const masked = await client.ask('/v1/users/alice/certificates/', {
      as: 'bob',
      headers: { 'X-Fields': 'uri,nope,revoked' },
    });
    const [first] = (masked.json as { result: object[] }).result;
    expect(Object.keys(first)).toEqual(['uri', 'revoked']);
    const nobody = await client.ask('/v1/users/nobody/certificates/', {
      as: 'bob',
    });
    expect(nobody.json).toMatchObject({ message: 'User not found' });
  });
});

describe('GET /certs/{serial_number}/', () => {
  it.each(['42', '0', '9'.repeat(60)])('knows no number %s', async serial => {
    const answer = await client.ask(`/v1/certs/${serial}/`, { as: 'alice' });
    expect(answer.status).toBe(404);
    expect(answer.text).toMatch(new RegExp(`"serial_number": ?${serial}\\b`));
  });

  it.each(['abc', '-1', '0x12', '1.5'])('is no path: %s', async serial => {
    const answer = await client.ask(`/v1/certs/${serial}/`, { as: 'alice' });
    expect(answer.json).toMatchObject({
      message: 'The requested URL was not found on the server.',
    });
  });
});

it('serves the revocation list to everyone, and nothing else', async () => {
  const crl = await fetch(`${gateway.baseUrl}/api/directory/ca/crl`);
  expect(crl.headers.get('content-type')).toBe('application/pkix-crl');
  for (const path of ['/ca', '/ca/crl/x', '/ca/crl/../../v1/me/', '/ca/CRL']) {
    expect([path, (await client.ask(path)).status]).toEqual([path, 401]);
  }
});

it('does not start with a profile that the authority does not have', async () => {
  const started = startGateway({
    realm,
    directory: {
      certificates: {
        authority: 'embedded',
        profiles: [{ name: 'userCerts' }, { name: 'vpn' }],
        embedded: {
          organization: realm.realm,
          keyFile: `${realm.dir}/other-ca-key.pem`,
        },
      },
    },
  });
  await expect(started).rejects.toThrow(
    'directory.certificates.profiles: the authority "embedded" has no profile "vpn", only userCerts',
  );
});
