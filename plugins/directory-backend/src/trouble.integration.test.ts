import { startRealm, type Realm } from '@directory-gateway/realm';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './__testUtils__/eventually';
import { FaultProxy } from './__testUtils__/ldap/FaultProxy';
import { GatewayClient, type Answer } from './__testUtils__/gateway/GatewayClient';
import {
  ldapOf,
  startGateway,
  type Gateway,
} from './__testUtils__/gateway/startGateway';

jest.setTimeout(180_000);

let realm: Realm;
let gateway: Gateway | undefined;

beforeAll(async () => {
  realm = await startRealm();
});
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});
afterAll(async () => {
  await realm?.stop();
});

async function boot(
  options: Partial<Parameters<typeof startGateway>[0]> = {},
): Promise<GatewayClient> {
  gateway = await startGateway({ realm, ...options });
  return new GatewayClient({ gateway, realm });
}

/** Repeats a request until it succeeds; resolves with that response. */
async function eventuallyOk(ask: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await eventually(async () => {
    answer = await ask();
    expect(answer.status).toBe(200);
  });
  return answer!;
}

describe('a directory that comes and goes', () => {
  it('returns 503 at start and when the replica is too old, and recovers', async () => {
    await realm.directory.stop();
    const client = await boot({
      directory: { replica: { maxStaleness: '5s' } },
    });
    const ask = () => client.ask('/v1/users/bob/', { as: 'alice' });
    const expectUnavailable = async () => {
      const { status, headers, text } = await ask();
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(text).not.toMatch(/ldap|cn=|localhost/i);
    };

    await expectUnavailable();
    await realm.directory.start();
    const before = await eventuallyOk(ask);

    await realm.directory.kill();
    await eventually(expectUnavailable);
    for (let round = 0; round < 10; round++) {
      await expectUnavailable();
    }
    await realm.directory.start();
    const after = await eventuallyOk(ask);
    expect(after.json).toEqual(before.json);
    expect(gateway!.alive()).toBe(true);
  });

  it('returns 504 while it is too slow, and recovers', async () => {
    const proxy = await FaultProxy.start(realm.ldapsUrl);
    try {
      const client = await boot({
        directory: {
          ldap: {
            ...ldapOf(realm),
            servers: [`ldaps://localhost:${proxy.port}`],
            operationTimeout: { milliseconds: 300 },
            // It stays in use: the replica does not verify callers.
            breaker: { failures: 1_000_000 },
          },
        },
      });
      const ask = (as: string) => client.ask('/v1/users/bob/', { as });
      await eventuallyOk(() => ask('alice'));
      proxy.toClient = { kind: 'delay', ms: 400 };
      // The account of alice is cached.
      await eventually(async () =>
        expect((await ask('dave')).status).toBe(504),
      );
      proxy.toClient = { kind: 'pass' };
      await eventuallyOk(() => ask('dave'));
    } finally {
      await proxy.stop();
    }
  });
});

describe('a directory that hides the flags', () => {
  it('serves nothing, and serves again when it shows them', async () => {
    const aci = `(targetattr = "fasIsPrivate || nsAccountLock")(version 3.0; acl "hide the flags"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)`;
    const change = (operation: 'add' | 'delete') =>
      realm.modify(
        `dn: cn=users,cn=accounts,${realm.baseDn}\nchangetype: modify\n${operation}: aci\naci: ${aci}\n`,
      );
    await change('add');
    try {
      const client = await boot();
      const ask = (path: string) => client.ask(path, { as: 'alice' });
      for (const path of ['/v1/me/', '/v1/users/', '/v1/users/bob/']) {
        expect([path, (await ask(path)).status]).toEqual([path, 503]);
      }
      expect(gateway!.log()).toMatch(/may not read.*fasIsPrivate/);
      await change('delete');
      await eventuallyOk(() => ask('/v1/me/'));
    } catch (error) {
      await change('delete').catch(() => {});
      throw error;
    }
  });
});

describe('a keytab', () => {
  it('that is missing is 503, never 200, until it is there', async () => {
    const keytab = join(realm.dir, 'late.keytab');
    const client = await boot({ kerberos: { keytab } });
    const ask = () => client.ask('/v1/me/', { as: 'alice' });
    expect((await ask()).status).toBe(503);
    expect((await client.ask('/v1/me/')).status).toBe(401);
    expect(gateway!.log()).toMatch(/late\.keytab/);

    await copyFile(realm.keytab, `${keytab}.new`);
    await rename(`${keytab}.new`, keytab);
    await eventuallyOk(ask);
  });
});

describe('a configuration', () => {
  it('without TLS beyond this machine is refused at start', async () => {
    await expect(
      boot({
        directory: {
          ldap: { ...ldapOf(realm), servers: ['ldap://ipa.example.test'] },
        },
      }),
    ).rejects.toThrow(/directory\.ldap\.servers names ldap:\/\/ipa/);
  });

  it('with a rule of access refuses whom it does not name', async () => {
    const client = await boot({
      directory: {
        access: [{ principals: ['alice'], operations: ['directory.read'] }],
      },
    });
    const ask = (as: string) => client.ask('/v1/users/bob/', { as });
    expect((await ask('alice')).status).toBe(200);
    expect((await ask('bob')).status).toBe(403);
  });

  it('with trusted readers shows them private profiles', async () => {
    const client = await boot({
      directory: {
        privacy: {
          trustedReaders: { principals: ['bot/builder.example.test'] },
        },
      },
    });
    const ask = (as: string) => client.ask('/v1/users/bob/', { as });
    const trusted = await ask('bot/builder.example.test');
    const other = await ask('alice');
    expect(trusted.json).toMatchObject({
      result: { human_name: expect.any(String) },
    });
    expect(other.json).toMatchObject({ result: { human_name: null } });
  });
});
