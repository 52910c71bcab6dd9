import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { embeddedAuthority } from '../__testUtils__/gateway/directoryConfig';
import {
  form,
  resultOf,
  serialOf,
} from '../__testUtils__/gateway/GatewayClient';
import { guestToken } from '../__testUtils__/gateway/signIn';
import { withGateway } from '../__testUtils__/gateway/withGateway';

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

const csrOf = (username: string) => makeCsr({ subject: `/CN=${username}` });

/** Issues a certificate and returns its serial number. */
async function issue(
  username: string,
  { label = '' }: { readonly label?: string } = {},
): Promise<string> {
  const csr = csrOf(username);
  const response = await site.client.request('/v1/certs/', {
    as: username,
    ...form({ user: username, csr, label }),
  });
  expect(response.status).toBe(200);
  return serialOf(response);
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

describe('labels', () => {
  it('are set by the owner and shown with the certificate', async () => {
    const serial = await issue('alice', { label: 'büro' });
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
  it('accepts a ticket or a new portal token of the owner', async () => {
    const serial = await issue('alice');
    const csr = csrOf('alice');
    const token = await guestToken(site.gateway);
    const headers = { Authorization: `Bearer ${token}` };
    for (const path of ['renewal/', 'renewal/nonce/']) {
      expect(
        await site.client.request(`/v1/certs/${serial}/${path}`, form({ csr })),
      ).toMatchObject({
        status: 401,
        json: {
          reason: 'no_credentials',
          documentation: 'Renew without a person',
        },
      });
    }
    expect(await renew(serial, { csr }, { as: 'bob' })).toMatchObject({
      status: 403,
    });
    expect(await renew('42', { csr }, { as: 'alice' })).toMatchObject({
      status: 403,
    });
    expect(await renew(serial, { csr }, { as: 'alice' })).toMatchObject({
      status: 200,
    });
    expect(
      await renew(serial, { csr: csrOf('alice') }, { headers }),
    ).toMatchObject({ status: 200 });
  });

  it('rejects another name and a revoked certificate', async () => {
    const serial = await issue('alice');
    expect(
      await renew(serial, { csr: csrOf('bob') }, { as: 'alice' }),
    ).toMatchObject({ status: 400, json: { rule: 'common_name' } });
    await site.client.request(`/v1/certs/${serial}/revocation/`, {
      as: 'alice',
      ...form({ reason: 'superseded' }),
    });
    expect(
      await renew(serial, { csr: csrOf('alice') }, { as: 'alice' }),
    ).toMatchObject({
      status: 403,
      json: {
        message: 'The certificate is revoked. Request a new one.',
      },
    });
  });
});

describe('docs/renew-without-a-person.md', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'renewal-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the script of the page with the keys of alice. */
  async function runScript(
    edits: Record<string, string> = {},
  ): Promise<string> {
    const page = await readFile(
      resolve(__dirname, '../../../../docs/renew-without-a-person.md'),
      'utf8',
    );
    let [, script] = /```sh\n(#!\/bin\/sh\n[^]*?)```/.exec(page)!;
    for (const [from, to] of Object.entries({
      'https://portal.example.org': site.gateway.baseUrl,
      'user=build1': 'user=alice',
      '/etc/directory/build1.keytab': site.realm.peopleKeytab,
      'cd /etc/pki/build1': `cd ${folder}`,
      'systemctl reload nginx': 'echo renewed',
      ...edits,
    })) {
      expect(script).toContain(from);
      script = script.replaceAll(from, to);
    }
    const { stdout } = await promisify(execFile)('sh', ['-c', script], {
      env: { ...process.env, KRB5_CONFIG: site.realm.krb5Config },
    });
    return stdout;
  }

  const read = async () => {
    const pem = await readFile(join(folder, 'alice.pem'), 'utf8');
    const certificate = new X509Certificate(pem);
    expect(certificate.subject).toContain('CN=alice');
    return { pem, serial: certificate.serialNumber };
  };

  it('requests a certificate, and renews it when it is due', async () => {
    expect(await runScript()).toBe('renewed\n');
    const { pem, serial } = await read();
    expect(pem).toContain('-----BEGIN PRIVATE KEY-----');
    expect(await runScript()).not.toContain('renewed');
    expect((await read()).serial).toBe(serial);
    expect(await runScript({ 864000: '86400000' })).toContain('renewed');
    expect((await read()).serial).not.toBe(serial);
  });

  it('keeps the certificate when the keytab is refused', async () => {
    const before = await read();
    await expect(
      runScript({
        864000: '86400000',
        'user=build1': 'user=nobody',
        '$user.pem': 'alice.pem',
      }),
    ).rejects.toThrow('kinit');
    expect(await read()).toEqual(before);
  });
});
