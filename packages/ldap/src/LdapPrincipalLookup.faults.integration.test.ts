import { startRealm, type Realm } from '@directory-gateway/realm';
import { type Fault, FaultProxy } from './__testUtils__/FaultProxy';
import { createLdapReader, openLdapPool } from './__testUtils__/openLdap';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
  schemaPreset,
} from '@directory-gateway/directory-core';
import {
  conformanceEntries,
  dumpEntries,
  eventually,
  NaiveDirectory,
} from '@directory-gateway/directory-core/testUtils';
import { LdapPrincipalLookup } from './LdapPrincipalLookup';
import type { LdapPool } from './connection/LdapPool';

jest.setTimeout(180_000);

const { signal } = new AbortController();
const logger = new RecordingLogger();

let realm: Realm | undefined;
let proxies: readonly FaultProxy[] = [];
let pool: LdapPool | undefined;
let principals: LdapPrincipalLookup;
let model: NaiveDirectory;
let names: readonly string[];

/** The pool has two servers; both lead to the realm's server. */
beforeAll(async () => {
  realm = await startRealm();
  await realm.modify(conformanceEntries('fas'));
  model = new NaiveDirectory(await dumpEntries(realm), 'fas');
  names = model.principalNames().slice(0, 200);
  proxies = await Promise.all([
    FaultProxy.start(realm.ldapsUrl),
    FaultProxy.start(realm.ldapsUrl),
  ]);
  pool = openLdapPool(realm, logger, {
    servers: proxies.map(({ port }) => `ldaps://localhost:${port}`),
  });
  principals = new LdapPrincipalLookup({
    reader: createLdapReader({ realm, searcher: pool, logger }),
    schema: schemaPreset('fas'),
    baseDn: realm.baseDn,
    logger,
  });
  await allAreFound();
});
afterEach(async () => {
  setFault({ kind: 'pass' });
  await eventually(allAreFound);
});
afterAll(async () => {
  pool?.close();
  await Promise.all(proxies.map(proxy => proxy.stop()));
  await realm?.stop();
});

function setFault(fault: Fault): void {
  for (const proxy of proxies) {
    proxy.toClient = fault;
  }
}

/**
 * Looks up principals concurrently. Expects each result to match the model and
 * each failure to mean that the directory is unavailable or too slow.
 *
 * @returns the number of lookups with a result
 */
async function findAll(some: readonly string[]): Promise<number> {
  const results = await Promise.allSettled(
    some.map(principal => principals.find({ principal }, { signal })),
  );
  let found = 0;
  for (const [index, result] of results.entries()) {
    const principal = some[index];
    if (result.status === 'fulfilled') {
      const expected = await model.principals.find({ principal });
      const value = result.value && { ...result.value, server: undefined };
      expect([principal, value]).toEqual([principal, expected]);
      found++;
    } else {
      const { reason } = result;
      const isUnavailable =
        reason instanceof DirectoryUnavailableError ||
        reason instanceof DirectoryTimeoutError;
      expect({ principal, reason, isUnavailable }).toMatchObject({
        isUnavailable: true,
      });
    }
  }
  return found;
}

async function allAreFound(): Promise<void> {
  expect(await findAll(names)).toBe(names.length);
}

async function firstIsFound(): Promise<void> {
  expect(await findAll(names.slice(0, 1))).toBe(1);
}

function timesLogged(what: RegExp): number {
  return logger.lines.filter(line => what.test(line)).length;
}

describe('LdapPrincipalLookup', () => {
  it('does not take a user whose groups are unreadable for a user without groups', async () => {
    const hide = (operation: 'add' | 'delete') =>
      realm!.modify(
        `dn: cn=users,cn=accounts,${realm!.baseDn}\nchangetype: modify\n${operation}: aci\naci: (targetattr = "memberOf")(targetfilter = "(uid=erin)")(version 3.0; acl "hide groups"; deny (read, search, compare) userdn = "ldap:///${realm!.bindDn}";)\n`,
      );
    await hide('add');
    const find = (username: string) =>
      principals.find({ username }, { signal });
    await expect(find('erin')).rejects.toMatchObject({ reason: 'accessCheck' });
    expect(await find('alice')).toMatchObject({ username: 'alice' });
    await hide('delete');
    expect(await find('erin')).toMatchObject({ username: 'erin' });
  });

  it('sends the pending lookups of a killed server to the next server', async () => {
    for (const [index, proxy] of proxies.entries()) {
      const half = names.slice(100 * index, 100 * index + 100);
      const finding = findAll(half);
      await proxy.refuse();
      proxy.reset();
      expect(await finding).toBe(half.length);
      await proxy.accept();
      await eventually(() =>
        expect(timesLogged(/back in service/)).toBe(
          timesLogged(/excluded after failures/),
        ),
      );
    }
  });

  it('returns correct results while connections are repeatedly reset', async () => {
    let found = 0;
    for (let at = 0; at < names.length; at += 10) {
      const finding = findAll(names.slice(at, at + 10));
      await findAll(names.slice(at, at + 1));
      proxies.forEach(proxy => proxy.reset());
      found += await finding;
    }
    expect(found).toBeGreaterThan(0.5 * names.length);
  });

  it.each<[string, (offset: number) => Fault]>([
    ['cut off', after => ({ kind: 'truncate', after })],
    [
      'corrupted',
      offset => ({
        kind: 'change',
        change: (bytes, at) => {
          const changed = Buffer.from(bytes);
          if (offset >= at && offset < at + changed.length) {
            changed[offset - at] ^= 1 << (offset % 8);
          }
          return changed;
        },
      }),
    ],
  ])(
    'never returns a partial result from streams that are %s',
    async (_how, fault) => {
      let found = 0;
      for (let round = 0; round < 20; round++) {
        // A server that responded within the last second is not excluded.
        setFault({ kind: 'pass' });
        await eventually(firstIsFound);
        setFault(fault(3000 + 3001 * round));
        proxies.forEach(proxy => proxy.reset());
        found += await findAll(names.slice(10 * round, 10 * round + 10));
      }
      expect(found).toBeGreaterThan(0);
    },
  );
});
