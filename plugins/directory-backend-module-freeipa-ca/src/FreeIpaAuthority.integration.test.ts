import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { KerberosResult } from '@directory-gateway/kerberos';
import { startRealm, type Realm } from '@directory-gateway/realm';
import type { AuthorityRequest } from './__testUtils__/authorityMain';
import { FakeHttpsServer } from './__testUtils__/FakeHttpsServer';
import { FakeCa } from './__testUtils__/FakeCa';
import { WorkerProcess } from './__testUtils__/WorkerProcess';

/** Long, because the first start of a realm creates its template. */
jest.setTimeout(600_000);

const SERVICE = 'bot/builder.example.test@EXAMPLE.TEST';

const newRequest = () =>
  createSigningRequest({
    username: 'alice',
    principal: 'alice@EXAMPLE.TEST',
    profile: 'userCerts',
  });

describe('FreeIpaAuthority with a keytab, a KDC and HTTPS', () => {
  let realm: Realm;
  let ca: FakeCa;
  let folder: string;
  let acceptor: WorkerProcess;
  let server: FakeHttpsServer;
  const callers = new Array<string>();
  const started = new Array<WorkerProcess>();

  beforeAll(async () => {
    realm = await startRealm();
    ca = await FakeCa.create();
    folder = await mkdtemp(join(tmpdir(), 'freeipa-login-'));
    acceptor = await WorkerProcess.start({
      module: require.resolve('./__testUtils__/acceptorMain'),
      argument: { keytab: realm.keytab, realms: [] },
      env: { ...process.env, KRB5_CONFIG: realm.krb5Config },
    });
    server = await FakeHttpsServer.start({
      ca,
      accept: async authorization => {
        const result = (await acceptor.request({
          authorization,
        })) as KerberosResult;
        if (result.outcome !== 'accepted') {
          return undefined;
        }
        callers.push(result.principal);
        return result;
      },
    });
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map(worker => worker.stop()));
    callers.splice(0);
  });

  afterAll(async () => {
    await server?.stop();
    await acceptor?.stop();
    await ca?.remove();
    await realm?.stop();
    await rm(folder, { recursive: true });
  });

  /** Starts the authority in a child process, as in the portal. */
  async function startAuthority(
    options: {
      readonly principal?: string;
      readonly keytab?: string;
      readonly env?: NodeJS.ProcessEnv;
    } = {},
  ): Promise<(request: AuthorityRequest) => Promise<Buffer>> {
    const worker = await WorkerProcess.start({
      module: require.resolve('./__testUtils__/authorityMain'),
      argument: {
        servers: [server.origin],
        caFile: ca.caFile,
        cacn: 'ipa',
        login: {
          kind: 'kerberos',
          account: options.principal ?? SERVICE,
          file: options.keytab ?? realm.peopleKeytab,
          fileKey: 'keytab',
        },
        requestTimeoutMs: 30_000,
        lostResponseSearchMs: 1000,
      },
      env: {
        ...process.env,
        KRB5_CONFIG: realm.krb5Config,
        KRB5_CLIENT_KTNAME: undefined,
        KRB5CCNAME: undefined,
        ...options.env,
      },
    });
    started.push(worker);
    return async request => (await worker.request(request)) as Buffer;
  }

  it('logs in once with a real ticket, signs and reads', async () => {
    const send = await startAuthority();
    const logins = server.freeIpa.count('login');
    const [first] = await Promise.all(
      Array.from({ length: 4 }, () =>
        send({ method: 'sign', request: newRequest() }),
      ),
    );
    const certificate = new X509Certificate(first);
    const serialNumber = BigInt(`0x${certificate.serialNumber}`);
    const found = await send({ method: 'get', serialNumber });
    expect(found).toEqual(first);
    expect(certificate.subject).toBe('O=EXAMPLE.TEST\nCN=alice');
    expect(callers).toEqual([SERVICE]);
    expect(server.freeIpa.count('login')).toBe(logins + 1);
  });

  it('logs in again when the session has expired', async () => {
    const send = await startAuthority();
    await send({ method: 'sign', request: newRequest() });
    server.freeIpa.expireSessions();
    await send({ method: 'sign', request: newRequest() });
    expect(callers).toEqual([SERVICE, SERVICE]);
  });

  it('gets a new ticket from the keytab when the old one has expired', async () => {
    const krb5Config = join(folder, 'short-lived.conf');
    const config = await readFile(realm.krb5Config, 'utf8');
    const shortLived = config.replace(
      'ticket_lifetime = 7d',
      'ticket_lifetime = 20s',
    );
    expect(shortLived).not.toBe(config);
    await writeFile(krb5Config, shortLived);
    const send = await startAuthority({ env: { KRB5_CONFIG: krb5Config } });
    await send({ method: 'sign', request: newRequest() });
    await sleep(21_000); // longer than the validity of the ticket
    server.freeIpa.expireSessions();
    await send({ method: 'sign', request: newRequest() });
    expect(callers).toEqual([SERVICE, SERVICE]);
  });

  it('uses a keytab that appears after the start', async () => {
    const keytab = join(folder, 'late.keytab');
    const send = await startAuthority({ keytab });
    const sign = () => send({ method: 'sign', request: newRequest() });
    await expect(sign()).rejects.toThrow('AuthorityUnavailableError');
    await writeFile(keytab, await readFile(realm.peopleKeytab), {
      mode: 0o600,
    });
    await sign();
    expect(callers).toEqual([SERVICE]);
  });

  it('does not use an inherited ticket cache of another principal', async () => {
    const send = await startAuthority({
      env: { KRB5CCNAME: await realm.ticket('alice') },
    });
    await send({ method: 'sign', request: newRequest() });
    expect(callers).toEqual([SERVICE]);
  });

  it('is not available when the keytab has no key for its principal', async () => {
    const send = await startAuthority({ principal: 'nobody@EXAMPLE.TEST' });
    const issued = ca.issued.size;
    await expect(
      send({ method: 'sign', request: newRequest() }),
    ).rejects.toThrow('AuthorityUnavailableError');
    await expect(
      send({ method: 'get', serialNumber: 0xdeadbeefn }),
    ).rejects.toThrow('AuthorityUnavailableError');
    expect(callers).toEqual([]);
    expect(ca.issued.size).toBe(issued);
  });
});
