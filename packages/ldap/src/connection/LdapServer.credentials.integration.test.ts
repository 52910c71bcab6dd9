import { startRealm, type Realm } from '@directory-gateway/realm';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  eventually,
  stopClock,
} from '@directory-gateway/directory-core/testUtils';
import { AccessLog } from '../__testUtils__/AccessLog';
import { FaultProxy } from '../__testUtils__/FaultProxy';
import {
  personSearch,
  startPool,
  type PoolUnderTest,
} from '../__testUtils__/openLdap';

jest.setTimeout(180_000);

const SECRET = { mode: 0o600 };

let realm: Realm;
let tested: PoolUnderTest | undefined;

beforeAll(async () => {
  realm = await startRealm();
});
afterEach(() => {
  jest.restoreAllMocks();
  tested?.pool.close();
  tested = undefined;
});
afterAll(() => realm?.stop());

const search = () => tested!.search(personSearch(realm, 'alice'));

/** Sets or removes an attribute of the service account. */
async function setAttribute(name: string, value?: string): Promise<void> {
  await realm.modify(
    `dn: ${realm.bindDn}\nchangetype: modify\nreplace: ${name}\n${
      value === undefined ? '' : `${name}: ${value}\n`
    }`,
  );
}

describe('the service account', () => {
  it('is bound with the current password from its file', async () => {
    const original = (await readFile(realm.bindPasswordFile, 'utf8')).trim();
    const bindPasswordFile = join(realm.dir, 'rotated');
    await writeFile(bindPasswordFile, `${original}\n`, SECRET);
    const proxy = await FaultProxy.start(realm.ldapsUrl);
    const servers = [`ldaps://localhost:${proxy.port}`];
    tested = startPool({ realm, ldap: { servers, bindPasswordFile } });
    await search();
    const { accepted } = proxy;

    await setAttribute('userPassword', 'the next one');
    await writeFile(bindPasswordFile, 'the next one\n');
    try {
      await expect(search()).resolves.toHaveLength(1);
      expect(proxy.accepted).toBe(accepted);
      proxy.reset();
      await eventually(search);
      expect(proxy.accepted).toBeGreaterThan(accepted);
    } finally {
      await setAttribute('userPassword', original);
      await proxy.stop();
    }
  });

  it('does not repeat a refused password but uses a new one', async () => {
    const bindPasswordFile = join(realm.dir, 'wrong');
    await writeFile(bindPasswordFile, 'not the password', SECRET);
    tested = startPool({ realm, ldap: { bindPasswordFile } });
    const log = await AccessLog.from(realm);
    const clock = stopClock();
    const refusedBinds = async () => {
      const { binds, searches } = await log.read();
      expect(searches).toEqual([]);
      return binds.filter(({ result }) => result === 49);
    };
    for (let round = 0; round < 20; round++) {
      const results = await Promise.allSettled([
        search(),
        search(),
        search(),
        search(),
      ]);
      for (const result of results) {
        expect(result).toMatchObject({
          reason: { name: 'DirectoryUnavailableError', reason: 'refused' },
        });
      }
    }
    // The server writes its log after it responds.
    const { bindDn } = realm;
    await eventually(async () =>
      expect(await refusedBinds()).toEqual([{ dn: bindDn, result: 49 }]),
    );
    // Then the password is tried again; sums of the clock are rounded.
    clock.advance(10_001);
    await eventually(async () => expect(await refusedBinds()).toHaveLength(2));
    clock.restore();
    expect(tested.log()).toMatch(/excluded.*InvalidCredentials/);

    const right = await readFile(realm.bindPasswordFile);
    await writeFile(bindPasswordFile, right);
    await eventually(search);
  });

  it.each<[string, string, () => Promise<string>]>([
    [
      'is disabled',
      'UnwillingToPerform',
      async () => {
        await setAttribute('nsAccountLock', 'TRUE');
        return realm.bindDn;
      },
    ],
    [
      'does not exist',
      'InvalidCredentials',
      async () => realm.bindDn.replace(/^[^,]*/, 'uid=deleted'),
    ],
  ])(
    'excludes a server immediately when the account %s',
    async (_how, code, lock) => {
      tested = startPool({ realm, ldap: { bindDn: await lock() } });
      try {
        await expect(search()).rejects.toMatchObject({
          name: 'DirectoryUnavailableError',
          reason: 'refused',
        });
        expect(tested.log()).toMatch(
          new RegExp(`excluded.*refused the service account.*${code}`),
        );
      } finally {
        await setAttribute('nsAccountLock');
      }
    },
  );

  it('fails searches on open connections when it is refused', async () => {
    const proxy = await FaultProxy.start(realm.ldapsUrl);
    const servers = [`ldaps://localhost:${proxy.port}`];
    tested = startPool({ realm, ldap: { servers, decisionTimeout: '1h' } });
    await search();
    proxy.vanish();
    await setAttribute('nsAccountLock', 'TRUE');
    try {
      // The search is sent on the vanished connection; the access check opens
      // another one.
      const results = await Promise.allSettled([
        search(),
        tested.pool.verifyBind(),
      ]);
      for (const result of results) {
        expect(result).toMatchObject({ reason: { reason: 'refused' } });
      }
    } finally {
      await setAttribute('nsAccountLock');
      await proxy.stop();
    }
  });

  it('is verified on new connections, on each server until one accepts it', async () => {
    const proxy = await FaultProxy.start(realm.ldapsUrl);
    const second = await startRealm();
    const url = `ldaps://localhost:${proxy.port}`;
    const servers = [url, second.ldapsUrl];
    tested = startPool({ realm, ldap: { servers } });
    try {
      await search();
      const { accepted } = proxy;
      await tested.pool.verifyBind();
      expect(proxy.accepted).toBeGreaterThan(accepted);

      await setAttribute('nsAccountLock', 'TRUE');
      await tested.pool.verifyBind();
      expect(tested.log()).toContain(
        `Directory server ${url} excluded after failures`,
      );
      expect(tested.pool.servers.reachability).toBe('reachable');
      await expect(search()).resolves.toHaveLength(1);

      await second.modify(
        `dn: ${second.bindDn}\nchangetype: modify\nreplace: nsAccountLock\nnsAccountLock: TRUE\n`,
      );
      await expect(tested.pool.verifyBind()).rejects.toMatchObject({
        name: 'DirectoryUnavailableError',
        reason: 'refused',
      });
      expect(tested.pool.servers.reachability).toBe('refused');
    } finally {
      await setAttribute('nsAccountLock');
      await second.stop();
      await proxy.stop();
    }
  });

  it('is never bound with an empty password', async () => {
    const bindPasswordFile = join(realm.dir, 'empty');
    await writeFile(bindPasswordFile, '\n', SECRET);
    tested = startPool({ realm, ldap: { bindPasswordFile } });
    const log = await AccessLog.from(realm);
    await expect(search()).rejects.toMatchObject({
      name: 'DirectoryUnavailableError',
    });
    expect((await log.read()).binds).toEqual([]);
  });
});

describe.each([
  ['LDAPS', (r: Realm) => ({ servers: [r.ldapsUrl] })],
  ['plain LDAP', (r: Realm) => ({ servers: [r.ldapUrl] })],
  ['StartTLS', (r: Realm) => ({ servers: [r.ldapUrl], startTls: true })],
])('a restarted server over %s', (_how, ldapOf) => {
  it('is never searched anonymously', async () => {
    tested = startPool({ realm, ldap: ldapOf(realm) });
    const log = await AccessLog.from(realm);
    const expectBound = (count: number) =>
      eventually(async () => {
        const { searches } = await log.read();
        expect(searches.length).toBeGreaterThanOrEqual(count);
        for (const { boundAs } of searches) {
          expect(boundAs).toBe(realm.bindDn);
        }
      });
    await search();
    await realm.directory.stop();
    await realm.directory.start();
    await eventually(search);
    // A killed server does not write the rest of its log.
    await expectBound(2);
    await realm.directory.kill();
    await expect(search()).rejects.toThrow();
    await realm.directory.start();
    await eventually(search);
    await expectBound(3);
  });
});
