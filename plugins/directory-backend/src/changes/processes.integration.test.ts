import { startRealm, type Realm } from '@directory-gateway/realm';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { readRevocationList } from '../__testUtils__/certificates/readRevocationList';
import {
  form,
  GatewayClient,
  resultOf,
  serialOf,
} from '../__testUtils__/gateway/GatewayClient';
import { HttpClient } from '../__testUtils__/gateway/HttpClient';
import { SteadyLoad } from '../__testUtils__/gateway/SteadyLoad';
import {
  embeddedAuthority,
  privilegedRules,
} from '../__testUtils__/gateway/directoryConfig';
import type { Gateway } from '../__testUtils__/gateway/startGateway';
import {
  type Processes,
  REQUEST_LIMIT,
  startProcesses,
} from '../__testUtils__/gateway/startProcesses';

jest.setTimeout(600_000);

let realm: Realm;
let processes: Processes;
/** One client per process. */
let clients: readonly GatewayClient[];

beforeAll(async () => {
  realm = await startRealm();
  processes = await startProcesses({
    realm,
    guest: 'user:default/alice',
    directory: {
      sessions: { keys: [{ secret: randomBytes(32).toString('base64') }] },
      portalUsers: { namespace: 'default', username: 'entityName' },
      access: privilegedRules,
      certificates: embeddedAuthority(realm),
    },
  });
  clients = processes.gateways.map(
    gateway => new GatewayClient({ gateway, realm }),
  );
});

afterAll(async () => {
  await processes?.stop();
  await realm?.stop();
});

/** Requests a certificate for the caller. */
const signAs = (client: GatewayClient, user: string, csr: string) =>
  client.request('/v1/certs/', { as: user, ...form({ user, csr }) });

/** Revokes a certificate as dave, who has a rule for it. */
const revoke = (client: GatewayClient, serial: string) =>
  client.request(`/v1/certs/${serial}/revocation/`, {
    as: 'dave',
    ...form({ reason: 'superseded' }),
  });

/** Number of a user's certificates, as returned by each process. */
const countsOf = (user: string) =>
  Promise.all(
    clients.map(async client => {
      const response = await client.request(`/v1/users/${user}/`, {
        as: 'alice',
      });
      return ((resultOf(response).certificates ?? []) as string[]).length;
    }),
  );

/** Captures a SPNEGO token that no acceptor has seen. */
async function captureToken(principal: string): Promise<string> {
  const server = createServer((req, res) =>
    res.end(req.headers.authorization ?? ''),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const gateway = { baseUrl: `http://localhost:${port}` };
  try {
    // Responses outside of the contract are not validated.
    const { text } = await new GatewayClient({ gateway, realm }).request(
      '/token',
      { as: principal },
    );
    return text;
  } finally {
    server.close();
  }
}

describe('authentication', () => {
  it('accepts portal tokens of both processes in both', async () => {
    const { gateways } = processes;
    for (const [issuer, target] of [gateways, gateways.toReversed()]) {
      const client = await HttpClient.asGuest(issuer, target);
      const response = await client.request('/v1/me/');
      expect(resultOf(response)).toMatchObject({ username: 'alice' });
    }
  });

  it('accepts a SPNEGO token once: both share the replay cache', async () => {
    const headers = { Authorization: await captureToken('bob') };
    const [first, second] = [
      await clients[0].request('/v1/me/', { headers }),
      await clients[1].request('/v1/me/', { headers }),
    ];
    expect(resultOf(first)).toMatchObject({ username: 'bob' });
    expect([second.status, second.json]).toMatchObject([
      401,
      { reason: 'replayed' },
    ]);
  });
});

describe('a session', () => {
  it('is accepted by the other process, which has the same key', async () => {
    for (const [issuer, acceptor] of [clients, clients.toReversed()]) {
      const issued = await issuer.request('/v1/me/', { as: 'bob' });
      const [cookie] = issued.headers.get('set-cookie')!.split(';');
      const accepted = await acceptor.request('/v1/me/', {
        headers: { Cookie: cookie },
      });
      expect(accepted.status).toBe(200);
      expect(resultOf(accepted)).toMatchObject({ username: 'bob' });
    }
  });
});

describe('the rate limit', () => {
  it('counts the requests to both processes in Redis', async () => {
    const left = async (index: number) => {
      const { baseUrl } = processes.gateways[index];
      const response = await fetch(`${baseUrl}/api/directory/`, {
        headers: { 'X-Forwarded-For': '192.0.2.7' },
      });
      return Number(response.headers.get('x-ratelimit-remaining'));
    };
    expect([await left(0), await left(1), await left(0)]).toEqual(
      [1, 2, 3].map(sent => REQUEST_LIMIT - sent),
    );
    expect(await processes.redis.keys()).toContainEqual(
      expect.stringContaining('192.0.2.7'),
    );
  });
});

describe('signing', () => {
  it('issues one certificate per key', async () => {
    const csr = makeCsr({ subject: '/CN=dave' });
    const before = await countsOf('dave');
    const responses = await Promise.all(
      Array.from({ length: 24 }, (_, n) => signAs(clients[n % 2], 'dave', csr)),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(24).fill(200));
    expect(new Set(responses.map(serialOf)).size).toBe(1);
    await eventually(async () =>
      expect(await countsOf('dave')).toEqual(before.map(count => count + 1)),
    );
  });

  it('is visible to the other process at once', async () => {
    const [a, b] = clients;
    const before = await countsOf('erin');
    const signed = await signAs(a, 'erin', makeCsr({ subject: '/CN=erin' }));
    const serial = serialOf(signed);
    const read = await b.request(`/v1/certs/${serial}/`, { as: 'bob' });
    expect(read.text).toBe(signed.text);
    // Users with certificates are known in other processes after a second.
    await eventually(async () =>
      expect(await countsOf('erin')).toEqual(before.map(count => count + 1)),
    );

    expect((await revoke(b, serial)).status).toBe(200);
    const after = await a.request(`/v1/certs/${serial}/`, { as: 'bob' });
    expect(resultOf(after)).toMatchObject({ revoked: true });
    expect(await countsOf('erin')).toEqual(before);
  });
});

describe('the certificate revocation list', () => {
  const readList = (gateway: Gateway) => readRevocationList(gateway, realm);

  it('is the same from both processes, with unique numbers', async () => {
    const serials = await Promise.all(
      Array.from({ length: 8 }, async (_, n) =>
        serialOf(
          await signAs(clients[n % 2], 'bob', makeCsr({ subject: '/CN=bob' })),
        ),
      ),
    );
    const before = await readList(processes.gateways[0]);
    let isDone = false;
    const seen = processes.gateways.map(async gateway => {
      const lists = [await readList(gateway)];
      while (!isDone) {
        lists.push(await readList(gateway));
      }
      return lists;
    });
    await Promise.all(
      serials.map((serial, n) => revoke(clients[n % 2], serial)),
    );
    isDone = true;
    const lists = await Promise.all(seen);

    for (const numbers of lists.map(own => own.map(({ number }) => number))) {
      expect(numbers).toEqual(numbers.toSorted((x, y) => x - y));
    }
    const all = lists.flat();
    expect(new Set(all.map(({ bytes }) => bytes)).size).toBe(
      new Set(all.map(({ number }) => number)).size,
    );
    await eventually(async () => {
      const [last, same] = await Promise.all(processes.gateways.map(readList));
      expect(last).toEqual(same);
      expect(last.number).toBeGreaterThan(before.number);
      expect(last.serials).toEqual(expect.arrayContaining(serials));
    });
  });
});

describe('a change in the directory', () => {
  it('is served by both processes', async () => {
    const dn = `uid=erin,cn=users,cn=accounts,${realm.baseDn}`;
    await realm.modify(
      `dn: ${dn}\nchangetype: modify\nreplace: displayName\ndisplayName: Erin of both\n`,
    );
    for (const client of clients) {
      await eventually(async () => {
        const response = await client.request('/v1/users/erin/', {
          as: 'erin',
        });
        expect(resultOf(response)).toMatchObject({
          human_name: 'Erin of both',
        });
      });
    }
  });
});

describe('behind a load balancer', () => {
  it('no request fails when processes are killed and stopped, and repeated requests return the same certificates', async () => {
    const load = await SteadyLoad.start(
      [await HttpClient.asGuest(processes.loadBalancer)],
      ['/v1/groups/packager/', '/v1/groups/', '/v1/users/?page_size=5'],
      { workers: 2 },
    );
    const csrs = Array.from({ length: 6 }, () =>
      makeCsr({ subject: '/CN=alice' }),
    );
    const [before] = await countsOf('alice');
    const interrupted = csrs.map(csr =>
      signAs(clients[1], 'alice', csr).catch(() => undefined),
    );
    await interrupted[0];
    await processes.gateways[1].kill();
    const results = await Promise.all(interrupted);

    // Within a minute, no second certificate is issued for a key.
    const repeated = await Promise.all(
      csrs.map(csr => signAs(clients[0], 'alice', csr)),
    );
    expect(repeated.map(({ status }) => status)).toEqual(csrs.map(() => 200));
    const completed = results.filter(response => response !== undefined);
    expect(repeated.filter((_, n) => results[n]).map(serialOf)).toEqual(
      completed.map(serialOf),
    );

    await processes.restart(1);
    const after = before + csrs.length;
    expect(await countsOf('alice')).toEqual([after, after]);
    await processes.gateways[0].stop();
    const [{ statuses, wrong }] = await load.stop();
    expect([Object.keys(statuses), wrong]).toEqual([['200'], []]);
  });
});
