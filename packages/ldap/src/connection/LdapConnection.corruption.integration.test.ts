import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import type { Entry } from 'ldapts';
import { FaultProxy } from '../__testUtils__/FaultProxy';
import {
  allUsersSearch,
  personSearch,
  type PoolOptions,
  startPool,
} from '../__testUtils__/openLdap';
import { readBerHeader } from './ldapMessages';
import type { LdapSearch } from './LdapConnection';

/** Multiplier for the number of random cases; `make trials` runs more. */
const RUNS = Number(process.env.RUNS || 1);

jest.setTimeout(120_000 * RUNS);

/** Short timeouts: after a length that is too large, the rest never arrives. */
const SHORT_TIMEOUTS = {
  operationTimeoutMs: 300,
  decisionTimeoutMs: 300,
  connectTimeoutMs: 300,
};

let realm: Realm;
const proxies = new Map<string, FaultProxy>();

beforeAll(async () => {
  realm = await startRealm();
  proxies.set('ldap', await FaultProxy.start(realm.ldapUrl));
  proxies.set('ldaps', await FaultProxy.start(realm.ldapsUrl));
});
afterAll(async () => {
  await Promise.all([...proxies.values()].map(proxy => proxy.stop()));
  await realm?.stop();
});

/** Searches once with new connections. */
async function searchOnce(
  scheme: string,
  search: LdapSearch,
  constants: PoolOptions['constants'] = SHORT_TIMEOUTS,
): Promise<readonly Entry[] | 'failure'> {
  const host = scheme === 'ldap' ? '127.0.0.1' : 'localhost';
  const servers = [`${scheme}://${host}:${proxies.get(scheme)!.port}`];
  const tested = startPool({ realm, ldap: { servers }, constants });
  try {
    return await tested.search(search);
  } catch (error) {
    expect(error).toMatchObject({
      name: expect.stringMatching(/^Directory(Unavailable|Timeout)Error$/),
    });
    return 'failure';
  } finally {
    tested.pool.close();
  }
}

/** Returns the complete result and the bytes that the server sends for it. */
async function observe(scheme: string, search: LdapSearch) {
  const proxy = proxies.get(scheme)!;
  const chunks: Buffer[] = [];
  proxy.toClient = {
    kind: 'change',
    change: bytes => {
      chunks.push(bytes);
      return bytes;
    },
  };
  const entries = await searchOnce(scheme, search, {});
  proxy.toClient = { kind: 'pass' };
  expect(entries).not.toBe('failure');
  return { entries, bytes: Buffer.concat(chunks) };
}

describe.each(['ldap', 'ldaps'])('a result over %s', scheme => {
  it('is complete or a failure wherever the connection ends', async () => {
    const search = allUsersSearch(realm);
    const { entries, bytes } = await observe(scheme, search);
    const proxy = proxies.get(scheme)!;
    let failures = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ max: bytes.length, min: 0 }), async n => {
        proxy.toClient = { kind: 'truncate', after: n };
        const result = await searchOnce(scheme, search);
        failures += result === 'failure' ? 1 : 0;
        expect(['failure', entries]).toContainEqual(result);
      }),
      { numRuns: 20 * RUNS },
    );
    expect(failures).toBeGreaterThan(12 * RUNS);
  });
});

/** Changes of a byte. */
const mutations: Readonly<Record<string, (byte: number) => number[]>> = {
  'lowest bit': byte => [byte ^ 0x01],
  'third bit': byte => [byte ^ 0x04],
  'highest bit': byte => [byte ^ 0x80],
  'all bits set': () => [0xff],
  lost: () => [],
  twice: byte => [byte, byte],
};

function changeAt(offset: number, mutate: (byte: number) => number[]) {
  return (bytes: Buffer, at: number) => {
    const index = offset - at;
    return index < 0 || index >= bytes.length
      ? bytes
      : Buffer.concat([
          bytes.subarray(0, index),
          Buffer.from(mutate(bytes[index])),
          bytes.subarray(index + 1),
        ]);
  };
}

it('LDAPS returns a complete result or fails when any byte is changed', async () => {
  const search = personSearch(realm, 'alice');
  const { entries, bytes } = await observe('ldaps', search);
  const proxy = proxies.get('ldaps')!;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.constantFrom(...Object.keys(mutations)),
      async (offset, name) => {
        const change = changeAt(offset, mutations[name]);
        proxy.toClient = { kind: 'change', change };
        expect(['failure', entries]).toContainEqual(
          await searchOnce('ldaps', search),
        );
      },
    ),
    { numRuns: 20 * RUNS },
  );
});

/**
 * Returns whether a byte is part of a text: plain LDAP cannot detect changes to
 * such bytes.
 */
function isText(bytes: Buffer, offset: number): boolean {
  let at = 0;
  while (at < bytes.length) {
    const header = readBerHeader(bytes, at)!;
    const isConstructed = (header.tag & 0x20) !== 0;
    const isString = header.tag === 0x04;
    if (isString && offset >= header.start && offset < header.end) {
      return true;
    }
    at = isConstructed ? header.start : header.end;
  }
  return false;
}

it('plain LDAP returns a complete result or fails when a message is malformed', async () => {
  const search = personSearch(realm, 'alice');
  const { entries, bytes } = await observe('ldap', search);
  const proxy = proxies.get('ldap')!;
  const shortensOrLengthens = (name: string) => /lost|twice/.test(name);
  let failures = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.constantFrom(...Object.keys(mutations)),
      async (offset, name) => {
        fc.pre(shortensOrLengthens(name) || !isText(bytes, offset));
        const change = changeAt(offset, mutations[name]);
        proxy.toClient = { kind: 'change', change };
        const result = await searchOnce('ldap', search);
        failures += result === 'failure' ? 1 : 0;
        expect(['failure', entries]).toContainEqual(result);
      },
    ),
    { numRuns: 75 * RUNS },
  );
  expect(failures).toBeGreaterThan(50 * RUNS);
});
