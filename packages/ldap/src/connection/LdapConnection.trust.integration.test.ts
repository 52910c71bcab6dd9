import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  personSearch,
  type PoolOptions,
  startPool,
} from '../__testUtils__/openLdap';
import {
  TestAuthority,
  type TlsFront,
  startTlsFront,
} from '../__testUtils__/TestAuthority';

jest.setTimeout(180_000);

let realm: Realm;
let authority: TestAuthority;
let front: TlsFront | undefined;

beforeAll(async () => {
  [realm, authority] = await Promise.all([
    startRealm(),
    TestAuthority.create(),
  ]);
});
afterEach(() => front?.stop());
afterAll(async () => {
  await authority?.remove();
  await realm?.stop();
});

/** Searches for alice over a connection with these settings. */
async function search(
  ldap: Record<string, string | boolean | string[]>,
  constants: PoolOptions['constants'] = {},
) {
  const tested = startPool({ realm, ldap, constants });
  try {
    return { entries: await tested.search(personSearch(realm, 'alice')) };
  } catch (error) {
    return { error, log: tested.log() };
  } finally {
    tested.pool.close();
  }
}

const alice = [expect.objectContaining({ uid: 'alice' })];

describe('a server over LDAPS', () => {
  it('is trusted with a certificate for its host from the CA', async () => {
    const certificate = await authority.issue({ host: 'localhost', days: 1 });
    front = await startTlsFront(certificate, realm.ldapUrl);
    const { caFile } = authority;
    const result = await search({ servers: [front.url], caFile });
    expect(result.entries).toEqual(alice);
  });

  it.each([
    ['that has expired', { host: 'localhost', days: -1 }, /expired/],
    ['for another host', { host: 'ldap.example.test', days: 1 }, /altnames/],
  ])('is rejected with a certificate %s', async (_how, options, reason) => {
    front = await startTlsFront(await authority.issue(options), realm.ldapUrl);
    const { caFile } = authority;
    const result = await search({ servers: [front.url], caFile });
    expect(result.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(result.log).toMatch(reason);
    expect(result.log).toContain(front.url);
  });

  it('is rejected with a certificate from another CA', async () => {
    const certificate = await authority.issue({ host: 'localhost', days: 1 });
    front = await startTlsFront(certificate, realm.ldapUrl);
    const result = await search({ servers: [front.url] });
    expect(result.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(result.log).toMatch(/unable to verify|self-signed/);
  });

  it('is rejected when it does not use TLS', async () => {
    const url = realm.ldapUrl.replace('ldap:', 'ldaps:');
    const result = await search({ servers: [url] });
    expect(result.error).toMatchObject({ name: 'DirectoryUnavailableError' });
  });
});

describe('a server with StartTLS', () => {
  const startTls = true;

  it('is trusted with a certificate for its host from the CA', async () => {
    const result = await search({ servers: [realm.ldapUrl], startTls });
    expect(result.entries).toEqual(alice);
  });

  it('is rejected with a certificate from another CA', async () => {
    const { caFile } = authority;
    const result = await search({ servers: [realm.ldapUrl], startTls, caFile });
    expect(result.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(result.log).toMatch(/unable to verify|self-signed/);
  });

  it('is rejected when it already uses TLS', async () => {
    const url = realm.ldapsUrl.replace('ldaps:', 'ldap:');
    const result = await search(
      { servers: [url], startTls },
      { connectTimeoutMs: 500 },
    );
    expect(result.error).toMatchObject({ name: 'DirectoryUnavailableError' });
  });
});

describe('a CA file', () => {
  it('is rejected when it is empty', async () => {
    const result = await search({ caFile: '/dev/null' });
    expect(result.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(result.log).toMatch(/directory\.ldap\.caFile is empty/);
  });
});
