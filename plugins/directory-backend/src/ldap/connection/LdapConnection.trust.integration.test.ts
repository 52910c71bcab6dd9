import { startRealm, type Realm } from '@directory-gateway/realm';
import { startPool, personSearch } from '../../__testUtils__/ldap/openLdap';
import {
  TestAuthority,
  type TlsFront,
  startTlsFront,
} from '../../__testUtils__/ldap/TestAuthority';

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

/** Asks for alice over a connection with these settings. */
async function ask(ldap: Record<string, string | boolean | string[]>) {
  const tested = startPool({
    realm,
    ldap: { ...ldap, breaker: { failures: 1 } },
  });
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
  it('is believed with a certificate of the authority for its host', async () => {
    const certificate = await authority.issue({ host: 'localhost', days: 1 });
    front = await startTlsFront(certificate, realm.ldapUrl);
    const { caFile } = authority;
    const answer = await ask({ servers: [front.url], caFile });
    expect(answer.entries).toEqual(alice);
  });

  it.each([
    ['that has expired', { host: 'localhost', days: -1 }, /expired/],
    ['for another host', { host: 'ldap.example.test', days: 1 }, /altnames/],
  ])('is refused with a certificate %s', async (_how, options, reason) => {
    front = await startTlsFront(await authority.issue(options), realm.ldapUrl);
    const { caFile } = authority;
    const answer = await ask({ servers: [front.url], caFile });
    expect(answer.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(answer.log).toMatch(reason);
    expect(answer.log).toContain(front.url);
  });

  it('is refused with a certificate of another authority', async () => {
    const certificate = await authority.issue({ host: 'localhost', days: 1 });
    front = await startTlsFront(certificate, realm.ldapUrl);
    const answer = await ask({ servers: [front.url] });
    expect(answer.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(answer.log).toMatch(/unable to verify|self-signed/);
  });

  it('is refused when it does not speak TLS', async () => {
    const url = realm.ldapUrl.replace('ldap:', 'ldaps:');
    const answer = await ask({ servers: [url] });
    expect(answer.error).toMatchObject({ name: 'DirectoryUnavailableError' });
  });
});

describe('a server with StartTLS', () => {
  const startTls = true;

  it('is believed with a certificate of the authority for its host', async () => {
    const answer = await ask({ servers: [realm.ldapUrl], startTls });
    expect(answer.entries).toEqual(alice);
  });

  it('is refused with a certificate of another authority', async () => {
    const { caFile } = authority;
    const answer = await ask({ servers: [realm.ldapUrl], startTls, caFile });
    expect(answer.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(answer.log).toMatch(/unable to verify|self-signed/);
  });

  it('is refused when it speaks TLS already', async () => {
    const url = realm.ldapsUrl.replace('ldaps:', 'ldap:');
    const answer = await ask({
      servers: [url],
      startTls,
      connectTimeout: '500ms',
    });
    expect(answer.error).toMatchObject({ name: 'DirectoryUnavailableError' });
  });
});

describe('an authority file', () => {
  it('that is empty trusts nobody', async () => {
    const answer = await ask({ caFile: '/dev/null' });
    expect(answer.error).toMatchObject({ name: 'DirectoryUnavailableError' });
    expect(answer.log).toMatch(/directory\.ldap\.caFile is empty/);
  });
});
