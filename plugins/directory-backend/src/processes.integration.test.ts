import { startRealm, type Realm } from '@directory-gateway/realm';
import { randomBytes } from 'node:crypto';
import { makeCsr } from './__testUtils__/certificates/makeCsr';
import { readRevocationList } from './__testUtils__/certificates/readRevocationList';
import { eventually } from './__testUtils__/eventually';
import {
  GatewayClient,
  resultOf,
  serialOf,
} from './__testUtils__/gateway/GatewayClient';
import { HttpClient } from './__testUtils__/gateway/HttpClient';
import { SteadyLoad } from './__testUtils__/gateway/SteadyLoad';
import {
  countCertificates,
  revoke,
  signAs,
} from './__testUtils__/gateway/certificateRequests';
import {
  embeddedAuthority,
  privilegedRules,
} from './__testUtils__/gateway/directoryConfig';
import { captureToken } from './__testUtils__/gateway/overhearToken';
import {
  overrideGuard,
  rejectedCounts,
} from './__testUtils__/gateway/overrideGuard';
import { guestToken } from './__testUtils__/gateway/signIn';
import {
  type Processes,
  REQUEST_LIMIT,
  startProcesses,
} from './__testUtils__/gateway/startProcesses';

jest.setTimeout(300_000);

const LIMIT = 12;

let realm: Realm;
let processes: Processes;
/** Each asks one process. */
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
      certificates: {
        ...embeddedAuthority(realm),
        limit: { requests: LIMIT, per: { hours: 1 } },
      },
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

const countsOf = (user: string) => countCertificates(clients, user);

describe('who is calling', () => {
  it('is believed on a token of the portal by both, whoever issued it', async () => {
    const { gateways } = processes;
    for (const [issuer, asked] of [gateways, gateways.toReversed()]) {
      const client = await HttpClient.asGuest(issuer, asked);
      const answer = await client.request('/v1/me/');
      expect(resultOf(answer)).toMatchObject({ username: 'alice' });
    }
  });

  it('is believed on a ticket once: they share what they have seen', async () => {
    const headers = { Authorization: await captureToken(realm, 'bob') };
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
  it('that one has given is taken by the other, whose key is the same', async () => {
    for (const [giver, taker] of [clients, clients.toReversed()]) {
      const given = await giver.request('/v1/me/', { as: 'bob' });
      const [cookie] = given.headers.get('set-cookie')!.split(';');
      const taken = await taker.request('/v1/me/', {
        headers: { Cookie: cookie },
      });
      expect(taken.status).toBe(200);
      expect(resultOf(taken)).toMatchObject({ username: 'bob' });
    }
  });
});

describe('the limit of requests', () => {
  it('counts in Redis, over both', async () => {
    const left = async (index: number) => {
      const { baseUrl } = processes.gateways[index];
      const response = await fetch(`${baseUrl}/api/directory/`, {
        headers: { 'X-Forwarded-For': '192.0.2.7' },
      });
      return Number(response.headers.get('x-ratelimit-remaining'));
    };
    expect([await left(0), await left(1), await left(0)]).toEqual(
      [1, 2, 3].map(made => REQUEST_LIMIT - made),
    );
    expect(await processes.redis.keys()).toContainEqual(
      expect.stringContaining('192.0.2.7'),
    );
  });
});

describe('signing', () => {
  it('makes one certificate of one key, and as many answers as the limit', async () => {
    const csr = makeCsr({ subject: '/CN=dave' });
    const before = await countsOf('dave');
    const answers = await Promise.all(
      Array.from({ length: 2 * LIMIT }, (_, turn) =>
        signAs(clients[turn % 2], 'dave', csr),
      ),
    );
    const signed = answers.filter(({ status }) => status === 200);
    expect(signed).toHaveLength(LIMIT);
    expect(new Set(signed.map(serialOf)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(LIMIT);
    expect(await countsOf('dave')).toEqual(before.map(count => count + 1));
  });

  it('is known to the other at once: to read, to list and to revoke', async () => {
    const [a, b] = clients;
    const before = await countsOf('erin');
    const signed = await signAs(a, 'erin', makeCsr({ subject: '/CN=erin' }));
    const serial = serialOf(signed);
    const read = await b.request(`/v1/certs/${serial}/`, { as: 'bob' });
    expect(read.text).toBe(signed.text);
    expect(await countsOf('erin')).toEqual(before.map(count => count + 1));

    expect((await revoke(b, serial)).status).toBe(200);
    const after = await a.request(`/v1/certs/${serial}/`, { as: 'bob' });
    expect(resultOf(after)).toMatchObject({ revoked: true });
    expect(await countsOf('erin')).toEqual(before);
  });
});

describe('the revocation list', () => {
  it('is the same from both, and no number is given twice', async () => {
    const serials = await Promise.all(
      Array.from({ length: 8 }, async (_, turn) =>
        serialOf(
          await signAs(
            clients[turn % 2],
            'bob',
            makeCsr({ subject: '/CN=bob' }),
          ),
        ),
      ),
    );
    const before = await readRevocationList(processes.gateways[0]);
    let isOver = false;
    const seen = processes.gateways.map(async gateway => {
      const lists = [await readRevocationList(gateway)];
      while (!isOver) {
        lists.push(await readRevocationList(gateway));
      }
      return lists;
    });
    await Promise.all(
      serials.map((serial, turn) => revoke(clients[turn % 2], serial)),
    );
    isOver = true;
    const lists = await Promise.all(seen);

    for (const numbers of lists.map(own => own.map(({ number }) => number))) {
      expect(numbers).toEqual(numbers.toSorted((x, y) => x - y));
    }
    const all = lists.flat();
    expect(new Set(all.map(({ bytes }) => bytes)).size).toBe(
      new Set(all.map(({ number }) => number)).size,
    );
    await eventually(async () => {
      const [last, same] = await Promise.all(
        processes.gateways.map(readRevocationList),
      );
      expect(last).toEqual(same);
      expect(last.number).toBeGreaterThan(before.number);
      expect(last.serials).toEqual(expect.arrayContaining(serials));
    });
  });
});

describe('a change in the directory', () => {
  it('shows at both', async () => {
    const dn = `uid=erin,cn=users,cn=accounts,${realm.baseDn}`;
    await realm.modify(
      `dn: ${dn}\nchangetype: modify\nreplace: displayName\ndisplayName: Erin of both\n`,
    );
    for (const client of clients) {
      await eventually(async () => {
        const answer = await client.request('/v1/users/erin/', { as: 'erin' });
        expect(resultOf(answer)).toMatchObject({ human_name: 'Erin of both' });
      });
    }
  });
});

describe('behind a loadBalancer', () => {
  let load: SteadyLoad;

  beforeEach(async () => {
    load = await SteadyLoad.start(
      [await HttpClient.asGuest(processes.loadBalancer)],
      ['/v1/users/bob/', '/v1/groups/', '/v1/users/?page_size=5'],
    );
  });

  afterEach(() => load.stop());

  it('one is killed, and the other does what it was about to do', async () => {
    const csrs = Array.from({ length: 6 }, () =>
      makeCsr({ subject: '/CN=alice' }),
    );
    const [before] = await countsOf('alice');
    const interrupted = csrs.map(csr =>
      signAs(clients[1], 'alice', csr).catch(() => undefined),
    );
    await interrupted[0];
    await processes.gateways[1].kill();
    const given = await Promise.all(interrupted);

    // The same requests within a minute: of what was signed, no other is made.
    const repeated = await Promise.all(
      csrs.map(csr => signAs(clients[0], 'alice', csr)),
    );
    expect(repeated.map(({ status }) => status)).toEqual(csrs.map(() => 200));
    const answered = given.filter(answer => answer !== undefined);
    expect(repeated.filter((_, turn) => given[turn]).map(serialOf)).toEqual(
      answered.map(serialOf),
    );
    // The limit has counted all that was answered, and holds.
    const further = await Promise.all(
      Array.from({ length: LIMIT }, () => signAs(clients[0], 'alice', csrs[0])),
    );
    const counted = answered.length + repeated.length;
    expect(
      further.filter(({ status }) => status === 200).length,
    ).toBeLessThanOrEqual(LIMIT - counted);

    await processes.restart(1);
    const after = before + csrs.length;
    expect(await countsOf('alice')).toEqual([after, after]);
    const [{ statuses, wrong }] = await load.stop();
    expect([Object.keys(statuses), wrong]).toEqual([['200'], []]);
  });

  it('a process is replaced without a failed request', async () => {
    await processes.restart(0);
    const [{ statuses, wrong }] = await load.stop();
    expect([Object.keys(statuses), wrong]).toEqual([['200'], []]);
  });
});

describe('a directory that has lost most of its people', () => {
  const answers = () =>
    Promise.all(
      clients.map(async client => {
        const { status, json } = await client.request('/v1/users/', {
          as: 'alice',
        });
        const { total_results: total } = json as { total_results?: number };
        return { status, total };
      }),
    );

  it('is quarantined by both processes, and served by both after an override', async () => {
    const aci = `(targetattr = "*")(targetfilter = "(!(uid=a*))")(version 3.0; acl "hide most"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)`;
    const [{ total: before }] = await answers();
    await realm.modify(
      `dn: cn=users,cn=accounts,${realm.baseDn}\nchangetype: modify\nadd: aci\naci: ${aci}\n`,
    );
    // It shows when the connection fails, and all keys are compared.
    await realm.directory.stop();
    await realm.directory.start();
    await eventually(async () =>
      expect(await answers()).toMatchObject([{ status: 503 }, { status: 503 }]),
    );

    const [gateway] = processes.gateways;
    await eventually(() => expect(rejectedCounts(gateway)).toBeDefined());
    const token = await guestToken(gateway);
    const counts = rejectedCounts(gateway)!;
    expect(await overrideGuard(gateway, { ...counts, token })).toBe(200);
    await eventually(async () => {
      const [first, second] = await answers();
      expect([first.status, second]).toEqual([200, first]);
      expect(first.total).toBeLessThan(before! / 2);
    });
  });
});
