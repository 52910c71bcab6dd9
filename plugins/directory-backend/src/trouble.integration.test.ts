import { startRealm, type Realm } from '@directory-gateway/realm';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './__testUtils__/eventually';
import { FaultProxy } from './__testUtils__/FaultProxy';
import { GatewayClient, type Answer } from './__testUtils__/GatewayClient';
import {
  ldapOf,
  startGateway,
  type Gateway,
} from './__testUtils__/startGateway';

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
  it('is 503 while it is away, at start and later, and back by itself', async () => {
    await realm.directory.stop();
    const client = await boot();
    const ask = () => client.ask('/v1/users/bob/', { as: 'alice' });

    const before = await ask();
    expect(before.status).toBe(503);
    expect(before.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(before.text).not.toMatch(/ldap|cn=|localhost/i);

    await realm.directory.start();
    await eventuallyOk(ask);

    await realm.directory.kill();
    expect((await ask()).status).toBe(503);
    await realm.directory.start();
    const after = await eventuallyOk(ask);
    expect(after.json).toMatchObject({ result: { human_name: null } });
    expect(gateway!.alive()).toBe(true);
  });

  it('is 504 while it is too slow, and back by itself', async () => {
    const proxy = await FaultProxy.start(realm.ldapsUrl);
    try {
      const client = await boot({
        directory: {
          ldap: {
            ...ldapOf(realm),
            servers: [`ldaps://localhost:${proxy.port}`],
            operationTimeout: { milliseconds: 300 },
            // It stays in use, so that no response is 503.
            breaker: { failures: 1_000_000 },
          },
        },
      });
      const ask = () => client.ask('/v1/users/bob/', { as: 'alice' });
      await eventuallyOk(ask);
      proxy.toClient = { kind: 'delay', ms: 400 };
      expect((await ask()).status).toBe(504);
      proxy.toClient = { kind: 'pass' };
      await eventuallyOk(ask);
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
