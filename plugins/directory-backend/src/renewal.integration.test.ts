import { createHash, type KeyObject, sign as signWith } from 'node:crypto';
import { makeCsrAndKey } from './__testUtils__/certificates/makeCsr';
import { userDn } from './__testUtils__/conformance/entries';
import { embeddedAuthority } from './__testUtils__/gateway/directoryConfig';
import {
  form,
  resultOf,
  serialOf,
} from './__testUtils__/gateway/GatewayClient';
import { guestToken } from './__testUtils__/gateway/signIn';
import { withGateway } from './__testUtils__/gateway/withGateway';

jest.setTimeout(600_000);

const site = withGateway({
  configure: realm => ({
    guest: 'user:default/alice',
    directory: {
      certificates: { ...embeddedAuthority(realm), limit: { requests: 1000 } },
      portalUsers: {
        namespace: 'default',
        username: 'entityName',
        mayRequestCertificates: true,
      },
    },
  }),
});

const KEYS: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  RSA: ['-newkey', 'rsa:2048'],
  Ed25519: ['-newkey', 'ed25519'],
};

interface Owned {
  readonly serial: string;
  readonly key: KeyObject;
}

async function issue(
  username: string,
  { newKey, ...more }: { newKey?: readonly string[]; label?: string } = {},
): Promise<Owned> {
  const { csr, key } = makeCsrAndKey({ subject: `/CN=${username}`, newKey });
  const response = await site.client.request('/v1/certs/', {
    as: username,
    ...form({ user: username, csr, ...more }),
  });
  expect(response.status).toBe(200);
  return { serial: serialOf(response), key };
}

async function nonceFor(serial: string): Promise<string> {
  const path = `/v1/certs/${serial}/renewal/nonce/`;
  const response = await site.client.request(path, { method: 'POST' });
  expect(response.status).toBe(200);
  return resultOf(response).nonce as string;
}

function signatureOf(key: KeyObject, ...lines: readonly string[]): string {
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return signWith(digest, Buffer.from(lines.join('\n')), key).toString(
    'base64',
  );
}

/** The parameters of a renewal with the keys of both certificates. */
async function proofOf(
  { serial, key }: Owned,
  csr: string,
): Promise<{ csr: string; nonce: string; signature: string }> {
  const nonce = await nonceFor(serial);
  const base64 = csr.replace(/-----.*-----|\s/g, '');
  const hash = createHash('sha256')
    .update(Buffer.from(base64, 'base64'))
    .digest('hex');
  const signature = signatureOf(key, 'directory-gateway renewal', nonce, hash);
  return { csr, nonce, signature };
}

const renew = (
  serial: string,
  parameters: Record<string, string>,
  options: { as?: string; headers?: Record<string, string> } = {},
) => {
  const { headers, ...request } = form(parameters);
  return site.client.request(`/v1/certs/${serial}/renewal/`, {
    ...request,
    ...options,
    headers: { ...headers, ...options.headers },
  });
};

const csrOf = (username: string) =>
  makeCsrAndKey({ subject: `/CN=${username}` }).csr;

const lock = (username: string, value: 'TRUE' | 'FALSE') =>
  site.realm.modify(
    `dn: ${userDn(
      username,
    )}\nchangetype: modify\nreplace: nsAccountLock\nnsAccountLock: ${value}\n`,
  );

describe('labels', () => {
  it('are set by the owner and shown with the certificate', async () => {
    const { serial } = await issue('alice', { label: 'büro' });
    const path = `/v1/certs/${serial}/`;
    const labelled = (label: string, as: string) =>
      site.client.request(`${path}label/`, {
        as,
        ...form({ label }),
        method: 'PUT',
      });
    const read = async () =>
      resultOf(await site.client.request(path, { as: 'bob' })).label;
    expect(await read()).toBe('büro');
    expect(await labelled('laptop', 'bob')).toMatchObject({ status: 403 });
    for (const label of ['x'.repeat(65), 'a\tb', 'a\0b', 'a\u202eb']) {
      expect(await labelled(label, 'alice')).toMatchObject({ status: 400 });
    }
    expect(await labelled('laptop', 'alice')).toMatchObject({
      status: 200,
      json: { result: { label: 'laptop' } },
    });
    expect(await read()).toBe('laptop');
    const list = await site.client.request('/v1/users/alice/certificates/', {
      as: 'bob',
    });
    expect(list.text).toContain('"label":"laptop"');
    expect(await labelled('', 'alice')).toMatchObject({ status: 200 });
    expect(await read()).toBeNull();
  });
});

describe('renewal', () => {
  it.each(Object.entries(KEYS))(
    'does not need credentials other than a key of type %s',
    async (_type, newKey) => {
      const old = await issue('alice', { newKey, label: 'server' });
      const renewed = await renew(
        old.serial,
        await proofOf(old, csrOf('alice')),
      );
      expect(renewed).toMatchObject({
        status: 200,
        json: { result: { owner_user: ['alice'], label: 'server' } },
      });
      expect(serialOf(renewed)).not.toBe(old.serial);
    },
  );

  it('continues with the new key', async () => {
    let owned = await issue('bob');
    for (let n = 0; n < 3; n++) {
      const { csr, key } = makeCsrAndKey({ subject: '/CN=bob' });
      const renewed = await renew(owned.serial, await proofOf(owned, csr));
      expect(renewed.status).toBe(200);
      owned = { serial: serialOf(renewed), key };
    }
    expect(site.gateway.log()).toContain(`certificate:`);
  });

  it('rejects every other proof with the same response', async () => {
    const own = await issue('alice');
    const foreign = await issue('bob');
    const locked = await issue('dave');
    await lock('dave', 'TRUE');
    const csr = csrOf('alice');
    const used = await proofOf(own, csr);
    expect(await renew(own.serial, used)).toMatchObject({ status: 200 });
    const proof = await proofOf(own, csr);
    const unknown = await proofOf({ serial: '42', key: own.key }, csr);
    const attempts: [string, Record<string, string>][] = [
      [own.serial, used],
      [own.serial, { ...proof, csr: csrOf('alice') }],
      [own.serial, { ...proof, nonce: 'x' }],
      [own.serial, { ...proof, nonce: `${proof.nonce}A` }],
      [own.serial, { ...proof, signature: '' }],
      [own.serial, { ...proof, signature: 'A'.repeat(20_000) }],
      [own.serial, { ...proof, nonce: await nonceFor(foreign.serial) }],
      [foreign.serial, proof],
      [foreign.serial, await proofOf({ ...foreign, key: own.key }, csr)],
      [locked.serial, await proofOf({ ...locked, key: own.key }, csr)],
      ['42', unknown],
      [`1${'0'.repeat(60)}`, proof],
    ];
    const bodies = new Set<string>();
    for (const [serial, parameters] of attempts) {
      const { status, text } = await renew(serial, parameters);
      bodies.add(`${status} ${text.replace(/"request_id": ?"[^"]*"/, '')}`);
    }
    expect([...bodies]).toEqual([
      expect.stringMatching(/^403 .*proof of possession was refused/),
    ]);
    // The holder of the key gets the reason.
    expect(
      await renew(locked.serial, await proofOf(locked, csrOf('dave'))),
    ).toMatchObject({ status: 400, json: { rule: 'principal' } });
    await lock('dave', 'FALSE');
  });

  it('accepts a ticket or a new portal token of the owner', async () => {
    const own = await issue('alice');
    const csr = csrOf('alice');
    const token = await guestToken(site.gateway);
    const headers = { Authorization: `Bearer ${token}` };
    expect(await renew(own.serial, { csr })).toMatchObject({ status: 401 });
    expect(await renew(own.serial, { csr }, { as: 'bob' })).toMatchObject({
      status: 403,
    });
    expect(await renew('42', { csr }, { as: 'alice' })).toMatchObject({
      status: 403,
    });
    expect(await renew(own.serial, { csr }, { as: 'alice' })).toMatchObject({
      status: 200,
    });
    expect(
      await renew(own.serial, { csr: csrOf('alice') }, { headers }),
    ).toMatchObject({ status: 200 });
  });

  it('rejects another name and a revoked certificate', async () => {
    const own = await issue('alice');
    expect(
      await renew(own.serial, { csr: csrOf('bob') }, { as: 'alice' }),
    ).toMatchObject({ status: 400, json: { rule: 'common_name' } });
    await site.client.request(`/v1/certs/${own.serial}/revocation/`, {
      as: 'alice',
      ...form({ reason: 'superseded' }),
    });
    expect(
      await renew(own.serial, { csr: csrOf('alice') }, { as: 'alice' }),
    ).toMatchObject({
      status: 403,
      json: {
        message: 'The certificate is revoked. Request a new one.',
      },
    });
  });
});

describe('revocation', () => {
  it('does not need credentials other than the key of the certificate', async () => {
    const own = await issue('alice');
    const nonce = await nonceFor(own.serial);
    const signature = signatureOf(
      own.key,
      'directory-gateway revocation',
      nonce,
      'keyCompromise',
    );
    const revoke = (reason: string) =>
      site.client.request(
        `/v1/certs/${own.serial}/revocation/`,
        form({ reason, nonce, signature }),
      );
    expect(await revoke('superseded')).toMatchObject({ status: 403 });
    expect(await revoke('keyCompromise')).toMatchObject({
      status: 200,
      json: { result: { revoked: true, revocation_reason: 1 } },
    });
  });
});

describe('the limit of unauthenticated requests', () => {
  it('limits failed attempts, but not renewals', async () => {
    const own = await issue('alice');
    const statuses = new Array<number>();
    for (let n = 0; n < 40; n++) {
      const { status } = await renew(own.serial, {
        csr: 'x',
        nonce: 'x',
        signature: 'x',
      });
      statuses.push(status);
    }
    expect(statuses.at(-1)).toBe(429);
    const byTicket = await renew(
      own.serial,
      { csr: csrOf('alice') },
      { as: 'alice' },
    );
    expect(byTicket.status).toBe(200);
  });
});
