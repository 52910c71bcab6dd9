import { ConfigReader } from '@backstage/config';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { SchemaVerifier } from '@directory-gateway/ldap';
import { ldapOf, openLdapPool } from '@directory-gateway/ldap/testUtils';
import { readDirectoryConfig } from '../config';
import { startGateway } from '../__testUtils__/gateway/startGateway';

jest.setTimeout(180_000);

const serviceToken = 'a-token-of-a-service-of-the-site';

let realm: Realm;
let plain: Realm;

beforeAll(async () => {
  [realm, plain] = await Promise.all([
    startRealm(),
    startRealm({ schema: 'freeipa' }),
  ]);
});
afterAll(() => Promise.all([realm?.stop(), plain?.stop()]));

/** Verifies that a realm has the schema of a `directory` block. */
async function verify(on: Realm, block: object): Promise<void> {
  const pool = openLdapPool(on, new RecordingLogger());
  const { schema } = readDirectoryConfig(
    new ConfigReader({ directory: { ldap: ldapOf(on), ...block } }),
  );
  try {
    await new SchemaVerifier({ searcher: pool, schema }).require();
  } finally {
    pool.close();
  }
}

it.each([
  ['the extension', () => realm, {}],
  ['the schema of FreeIPA', () => plain, { schema: 'freeipa' }],
  [
    'the extension and the schema of FreeIPA',
    () => realm,
    { schema: 'freeipa' },
  ],
  ['other spellings', () => realm, { attributes: { timezone: 'FASTIMEZONE' } }],
  [
    'a second name of an attribute',
    () => realm,
    { attributes: { surname: 'surName' } },
  ],
])('accepts a directory with %s', async (_what, on, block) => {
  await expect(verify(on(), block)).resolves.toBeUndefined();
});

it.each([
  [
    'the extension',
    () => plain,
    {},
    /schema lacks fasUser, .*fasIRCNick.*directory\.schema/,
  ],
  [
    'an attribute of the site',
    () => realm,
    { attributes: { timezone: 'myTimeZone', locked: 'nsAcountLock' } },
    /schema lacks myTimeZone, nsAcountLock: /,
  ],
])('rejects a directory without %s', async (_what, on, block, message) => {
  await expect(verify(on(), block)).rejects.toThrow(message);
});

it('does not delay the start when the directory does not respond', async () => {
  let respond = () => {};
  const responded = new Promise<void>(resolve => {
    respond = resolve;
  });
  const { schema } = readDirectoryConfig(
    new ConfigReader({ directory: { ldap: ldapOf(realm) } }),
  );
  const verifier = new SchemaVerifier({
    searcher: {
      verifyBind: async () => {},
      search: async () => {
        await responded;
        return { entries: [], server: realm.ldapsUrl };
      },
    },
    schema,
  });
  await verifier.requireIfReachable();
  const late = verifier.require();
  respond();
  await expect(late).rejects.toThrow(/schema lacks fasUser/);
});

it('prevents the start of the plugin when the schema lacks an attribute', async () => {
  await expect(
    startGateway({
      realm,
      directory: { attributes: { timezone: 'myTimeZone' } },
    }),
  ).rejects.toThrow(/schema lacks myTimeZone/);
});

it('lets the plugin start while the directory is unreachable, but prevents later reads', async () => {
  await realm.directory.stop();
  const gateway = await startGateway({
    realm,
    serviceToken,
    until: 'started',
    directory: { attributes: { timezone: 'myTimeZone' } },
  });
  try {
    await realm.directory.start();
    await eventually(async () => {
      const { status } = await fetch(
        `${gateway.baseUrl}/api/directory/v1/users/alice/`,
        { headers: { authorization: `Bearer ${serviceToken}` } },
      );
      expect(status).toBe(503);
      expect(gateway.log()).toMatch(
        /Access check failed: .*schema lacks myTimeZone/,
      );
    });
  } finally {
    await gateway.stop();
  }
});
