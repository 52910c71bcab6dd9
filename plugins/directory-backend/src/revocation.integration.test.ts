import { startRealm, type Realm } from '@directory-gateway/realm';
import { execFileSync } from 'node:child_process';
import { GatewayClient, type AskOptions } from './__testUtils__/GatewayClient';
import { makeCsr } from './__testUtils__/makeCsr';
import { startGateway, type Gateway } from './__testUtils__/startGateway';

jest.setTimeout(180_000);

const READER = 'reader-reader-reader-reader';
const ADMINISTRATOR = 'user:default/root';

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    // The whole portal: its permission backend decides who may revoke.
    entry: 'packages/backend/src/index.ts',
    guest: ADMINISTRATOR,
    program: { token: READER, permissions: ['directory.read'] },
    directory: {
      access: [
        {
          principals: ['*'],
          operations: ['directory.read', 'directory.certificate.sign'],
        },
        {
          principals: ['dave'],
          operations: ['directory.certificate.revoke'],
        },
      ],
      certificates: {
        authority: 'embedded',
        embedded: {
          organization: realm.realm,
          keyFile: `${realm.dir}/ca-key.pem`,
        },
      },
    },
  });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

/** Has a certificate signed for alice by herself. */
async function sign(): Promise<{
  readonly serial: string;
  readonly der: string;
}> {
  const csr = makeCsr({ subject: '/CN=alice' });
  const answer = await client.ask('/v1/certs/', {
    as: 'alice',
    method: 'POST',
    body: String(new URLSearchParams({ user: 'alice', csr })),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  // A number of JSON would lose digits.
  const [, serial] = /"serial_number": ?(\d+)/.exec(answer.text)!;
  const { result } = answer.json as {
    result: { certificate_chain: readonly string[] };
  };
  return { serial, der: result.certificate_chain[0] };
}

/** What the API, the user's record and the revocation list say about it. */
async function stateOf({ serial, der }: Awaited<ReturnType<typeof sign>>) {
  const certificate = await client.ask(`/v1/certs/${serial}/`, { as: 'bob' });
  const user = await client.ask('/v1/users/alice/', { as: 'bob' });
  const { revoked, revocation_reason: reason } = (
    certificate.json as { result: Record<string, unknown> }
  ).result;
  const { certificates } = (
    user.json as { result: { certificates: readonly string[] | null } }
  ).result;
  return {
    ...{ revoked, reason },
    ofUser: certificates?.includes(der) ?? false,
    listed: (await listedSerials()).includes(BigInt(serial)),
  };
}

/** The serial numbers on the revocation list, got without a login. */
async function listedSerials(): Promise<readonly bigint[]> {
  const list = await fetch(`${gateway.baseUrl}/api/directory/ca/crl`);
  const text = execFileSync(
    'openssl',
    ['crl', '-inform', 'DER', '-noout', '-text'],
    { input: Buffer.from(await list.arrayBuffer()), encoding: 'utf8' },
  );
  return [...text.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, hex]) =>
    BigInt(`0x${hex}`),
  );
}

async function revoke(serial: string, token: string): Promise<Response> {
  const actions = `${gateway.baseUrl}/api/directory/.backstage/actions/v1/actions`;
  return await fetch(`${actions}/directory:revoke-certificate/invoke`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ serial, reason: 'keyCompromise' }),
  });
}

async function signInAdministrator(): Promise<string> {
  const response = await fetch(`${gateway.baseUrl}/api/auth/guest/refresh`, {
    headers: { 'X-Requested-With': 'XMLHttpRequest' },
  });
  return (await response.json()).backstageIdentity.token;
}

const USABLE = { revoked: false, reason: null, ofUser: true, listed: false };

describe('revoke-certificate', () => {
  it('is refused to a program that may only read', async () => {
    const certificate = await sign();
    const response = await revoke(certificate.serial, READER);
    expect(response.status).toBe(404);
    expect(await stateOf(certificate)).toEqual(USABLE);
  });

  it.each(['', 'no.such.token'])(
    'is refused with the token "%s"',
    async token => {
      const certificate = await sign();
      const response = await revoke(certificate.serial, token);
      expect([401, 403]).toContain(response.status);
      expect(await stateOf(certificate)).toEqual(USABLE);
    },
  );

  it('revokes everywhere when an administrator asks, and is on record', async () => {
    const certificate = await sign();
    const other = await sign();
    expect(await stateOf(certificate)).toEqual(USABLE);

    const { serial } = certificate;
    const response = await revoke(serial, await signInAdministrator());
    const { output } = await response.json();
    expect(output).toMatchObject({ serial });

    expect(await stateOf(certificate)).toEqual({
      ...{ revoked: true, reason: 1 },
      ...{ ofUser: false, listed: true },
    });
    expect(await stateOf(other)).toEqual(USABLE);
    const record = gateway
      .log()
      .split('\n')
      .filter(line => line.includes('certificate-revoke'))
      .filter(line => line.includes(serial))
      .at(-1);
    expect(record).toContain(ADMINISTRATOR);
    expect(record).toContain('succeeded');
  });
});

describe('POST /certs/{serial}/revocation/', () => {
  const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const post = (
    serial: string,
    options: Partial<AskOptions> = {},
    reason = 'superseded',
  ) =>
    client.ask(`/v1/certs/${serial}/revocation/`, {
      method: 'POST',
      body: `reason=${reason}`,
      ...options,
      headers: { ...FORM, ...options.headers },
    });
  const bearer = (token: string) => ({
    headers: { Authorization: `Bearer ${token}` },
  });
  const recordOf = (serial: string) =>
    gateway
      .log()
      .split('\n')
      .filter(line => line.includes('certificate-revoke'))
      .filter(line => line.includes(serial));

  it('revokes for an administrator of the portal, once and for good', async () => {
    const certificate = await sign();
    const { serial } = certificate;
    const administrator = bearer(await signInAdministrator());
    const revoked = await post(serial, administrator);
    expect(revoked).toMatchObject({
      status: 200,
      json: { result: { revoked: true, revocation_reason: 4 } },
    });
    expect(revoked.text).toContain(serial);
    const again = await post(serial, administrator, 'keyCompromise');
    expect(again.json).toEqual(revoked.json);
    expect(await stateOf(certificate)).toEqual({
      ...{ revoked: true, reason: 4 },
      ...{ ofUser: false, listed: true },
    });
    const [first] = recordOf(serial);
    expect(first).toContain(ADMINISTRATOR);
    expect(recordOf(serial).join('\n')).toContain('succeeded');
  });

  it('revokes for a holder of a ticket whom a rule names', async () => {
    const { serial } = await sign();
    expect(await post(serial, { as: 'dave' })).toMatchObject({ status: 200 });
    expect(recordOf(serial).at(-1)).toContain('dave');
  });

  it.each<[string, number, () => Promise<AskOptions>]>([
    ['nobody', 401, async () => ({})],
    ['its own owner', 403, async () => ({ as: 'alice' })],
    ['a program that may only read', 403, async () => bearer(READER)],
    [
      "another site's page",
      403,
      async () => ({
        as: 'dave',
        headers: { Origin: 'https://elsewhere.example.test' },
      }),
    ],
  ])('is refused to %s', async (_who, status, options) => {
    const certificate = await sign();
    const before = gateway.log().length;
    expect(await post(certificate.serial, await options())).toMatchObject({
      status,
    });
    expect(await stateOf(certificate)).toEqual(USABLE);
    const refused = gateway.log().slice(before).includes('certificate-revoke');
    expect(refused).toBe(status === 403);
  });

  it('knows no other certificate, and no other reason', async () => {
    const as = 'dave';
    expect(await post('42', { as })).toMatchObject({
      status: 404,
      json: { message: 'Certificate not found', serial_number: 42 },
    });
    const certificate = await sign();
    for (const reason of ['', '1', 'certificateHold', 'caCompromise']) {
      const answer = await post(certificate.serial, { as }, reason);
      expect(answer).toMatchObject({ status: 400 });
    }
    expect(await stateOf(certificate)).toEqual(USABLE);
  });
});
