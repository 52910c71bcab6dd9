import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Control } from 'ldapts';
import { ldapsearch, portal, root } from './__testUtils__/ldapsearch';
import { repairMemberOf } from './directory';
import { PACKAGE_FOLDER } from './realmFiles';
import { startRealm, type Realm } from './startRealm';

jest.setTimeout(600_000);

const USERS = 'cn=users,cn=accounts,dc=example,dc=test';
const GROUPS = 'cn=groups,cn=accounts,dc=example,dc=test';

/** Get Effective Rights, a control of 389 Directory Server and FreeIPA. */
class EffectiveRights extends Control {
  readonly #authorization: string;

  constructor(dn: string) {
    super('1.3.6.1.4.1.42.2.27.9.5.2', { critical: true });
    this.#authorization = `dn:${dn}`;
  }

  override writeControl(writer: { writeString(text: string): void }): void {
    writer.writeString(this.#authorization);
  }
}

/** Connects over LDAPS, and trusts only the realm's CA. */
async function connect(realm: Realm, url = realm.ldapsUrl): Promise<Client> {
  const client = new Client({
    url,
    tlsOptions: { ca: [await readFile(realm.caFile)] },
    connectTimeout: 10_000,
  });
  const password = await readFile(realm.bindPasswordFile, 'utf8');
  await client.bind(realm.bindDn, password);
  return client;
}

/** Returns `memberOf` of all entries by DN, in lower case. */
async function memberships(realm: Realm): Promise<Record<string, string[]>> {
  const entries = await ldapsearch(realm, {
    as: root(realm),
    attributes: ['memberOf'],
  });
  return Object.fromEntries(
    entries.map(({ dn: [dn], memberOf = [] }) => [
      dn.toLowerCase(),
      memberOf.map(group => group.toLowerCase()).sort(),
    ]),
  );
}

describe('startRealm', () => {
  let realm: Realm;

  beforeAll(async () => {
    realm = await startRealm();
  });

  afterAll(() => realm?.stop());

  const lastUsn = async () => {
    const [entry] = await ldapsearch(realm, {
      as: 'anonymous',
      base: '',
      scope: 'base',
      attributes: ['lastusn'],
    });
    return Number(entry.lastusn[0]);
  };

  it.each([
    'alice',
    'alice.liddell',
    'bot/builder.example.test',
    'host/build1.example.test',
  ])('binds with the ticket of %s', async ticketOf => {
    const [found] = await ldapsearch(realm, {
      as: { ticketOf },
      filter: '(uid=alice)',
      attributes: ['mail'],
    });
    expect(found.mail).toContain('alice@example.test');
  });

  it.each(['carol', 'ghost'])(
    'issues a ticket to %s, which the directory rejects',
    async ticketOf => {
      await expect(ldapsearch(realm, { as: { ticketOf } })).rejects.toThrow(
        /Invalid credentials|unwilling to perform/i,
      );
    },
  );

  it("serves LDAPS with a certificate of the realm's CA", async () => {
    const client = await connect(realm);
    const { searchEntries } = await client.search(realm.baseDn, {
      filter: '(&(objectClass=fasUser)(mail=alice@example.test))',
      attributes: ['uid'],
    });
    expect(searchEntries).toMatchObject([{ uid: 'alice' }]);
    await client.unbind();
    const untrusting = new Client({ url: realm.ldapsUrl });
    await expect(untrusting.bind(realm.bindDn, 'any')).rejects.toThrow(
      /certificate/,
    );
  });

  it('returns names, but not e-mail addresses or memberships, to an anonymous client', async () => {
    const entries = await ldapsearch(realm, {
      as: 'anonymous',
      filter: '(|(uid=alice)(cn=packager))',
      attributes: ['uid', 'cn', 'entryusn', 'mail', 'member', 'memberOf'],
    });
    const names = new Set(entries.flatMap(Object.keys));
    expect(names).toEqual(new Set(['dn', 'uid', 'cn', 'entryusn']));
  });

  it('lets the service account read flags and times, but not modifiersName', async () => {
    const entries = await ldapsearch(realm, {
      as: portal(realm),
      filter: '(|(uid=bob)(uid=carol)(uid=eve))',
      attributes: [
        ...['uid', 'fasIsPrivate', 'nsAccountLock', 'krbPrincipalExpiration'],
        ...['modifyTimestamp', 'modifiersName'],
      ],
    });
    const modifyTimestamp = [expect.stringMatching(/^\d{14}Z$/)];
    expect(entries.map(({ dn, ...values }) => values)).toEqual([
      { uid: ['bob'], fasIsPrivate: ['TRUE'], modifyTimestamp },
      {
        uid: ['carol'],
        fasIsPrivate: ['FALSE'],
        nsAccountLock: ['TRUE'],
        modifyTimestamp,
      },
      {
        uid: ['eve'],
        krbPrincipalExpiration: ['20200101000000Z'],
        modifyTimestamp,
      },
    ]);
  });

  it('returns read-only effective rights of the service account', async () => {
    const client = await connect(realm);
    const { searchEntries } = await client.search(
      `uid=alice,${USERS}`,
      {
        scope: 'base',
        attributes: ['memberOf', 'fasIsPrivate', 'userPassword'],
      },
      new EffectiveRights(realm.bindDn),
    );
    expect(searchEntries).toMatchObject([
      {
        entryLevelRights: 'none',
        attributeLevelRights:
          'memberOf:rsc, fasIsPrivate:rsc, userPassword:none',
      },
    ]);
    await client.unbind();
  });

  it('hides passwords from their owners and administrators', async () => {
    const searchers = [
      portal(realm),
      { ticketOf: 'alice' },
      { ticketOf: 'admin' },
    ];
    for (const as of searchers) {
      const attributes = ['userPassword', 'krbPrincipalKey'];
      const entries = await ldapsearch(realm, { as, attributes });
      expect(new Set(entries.flatMap(Object.keys))).toEqual(new Set(['dn']));
      const filter = '(userPassword=*)';
      expect(await ldapsearch(realm, { as, filter })).toEqual([]);
    }
  });

  it('imports the memberOf values that the plugin computes', async () => {
    const imported = await memberships(realm);
    expect(imported[`uid=dave,${USERS}`]).toContain(`cn=packager,${GROUPS}`);
    await repairMemberOf(realm);
    expect(await memberships(realm)).toEqual(imported);
  });

  it('updates nested memberships, references and the USN after a change', async () => {
    const before = await lastUsn();
    const x = `uid=x,${USERS}`;
    await realm.modify(`dn: cn=rel-eng,${GROUPS}
changetype: modify
add: member
member: ${x}
`);
    expect((await memberships(realm))[x]).toEqual(
      expect.arrayContaining(
        ['rel-eng', 'packager'].map(name => `cn=${name},${GROUPS}`),
      ),
    );
    expect(await lastUsn()).toBeGreaterThan(before);
    await realm.modify(`dn: ${x}\nchangetype: delete\n`);
    const search = { as: portal(realm), filter: `(member=${x})` };
    expect(await ldapsearch(realm, search)).toEqual([]);
    await expect(
      realm.modify(`dn: ${x}\nchangetype: delete\n`),
    ).rejects.toThrow(/No such object/);
  });

  it('rotates the service key and removes old keys', async () => {
    const versions = async () => {
      const { stdout } = await promisify(execFile)('klist', [
        ...['-k', realm.keytab],
      ]);
      const lines = stdout.split('\n');
      return lines
        .filter(line => line.includes('HTTP/'))
        .map(line => parseInt(line, 10));
    };
    expect(await versions()).toEqual([1]);
    await realm.rotateServiceKey();
    expect(await versions()).toEqual([1, 2]);
    await realm.rotateServiceKey();
    await realm.removeOldServiceKeys();
    expect(await versions()).toEqual([3]);
  });

  it('writes the access log immediately', async () => {
    const filter = '(uid=seen-in-the-log)';
    await ldapsearch(realm, { as: portal(realm), filter });
    expect(await readFile(realm.accessLog, 'utf8')).toContain(filter);
  });

  it('stops, kills and pauses the directory server', async () => {
    const { directory } = realm;
    const search = () =>
      ldapsearch(realm, { as: portal(realm), filter: '(uid=alice)' });
    for (const end of ['stop', 'kill'] as const) {
      await directory[end]();
      await expect(search()).rejects.toThrow(/Can't contact/);
      await directory.start();
      expect(await search()).toHaveLength(1);
    }
    await directory.pause();
    const pid = await readFile(join(realm.dir, 'slapd.pid'), 'utf8');
    const tasks = `/proc/${pid.trim()}/task`;
    for (const thread of await readdir(tasks)) {
      const stat = await readFile(join(tasks, thread, 'stat'), 'utf8');
      expect(stat.split(') ')[1]).toMatch(/^T/);
    }
    const waiting = search();
    await directory.resume();
    expect(await waiting).toHaveLength(1);
  });
});

describe('startRealm with an LDIF file', () => {
  it('serves the users and keys of the file with its own access control', async () => {
    const ldif = join(PACKAGE_FOLDER, 'src/__fixtures__/tree.ldif');
    const realm = await startRealm({ ldif });
    try {
      for (const ticketOf of ['zoe', 'zoe.alias', 'com,ma', '-sp "ace']) {
        const [self] = await ldapsearch(realm, {
          as: { ticketOf },
          filter: `(krbPrincipalName=${ticketOf}@EXAMPLE.TEST)`,
          attributes: ['cn'],
        });
        expect(self.cn).toHaveLength(1);
      }
      await realm.ticket('bot/x.example.test');
      await expect(realm.ticket('zoe@OTHER.TEST')).rejects.toThrow(
        'OTHER.TEST',
      );
      const filter = '(krbPrincipalName=*)';
      expect(await ldapsearch(realm, { as: 'anonymous', filter })).toEqual([]);
      await (await connect(realm)).unbind(); // with the realm's own password

      const found = await memberships(realm);
      const outer = `cn=outer,${GROUPS}`;
      const pledge = 'cn=pledge,cn=fasagreements,dc=example,dc=test';
      expect(found[`uid=zoe,${USERS}`]).toEqual([
        ...[`cn=inner,${GROUPS}`, outer, pledge],
      ]);
      expect(found[`cn=inner,${GROUPS}`]).toEqual([outer, pledge]);
    } finally {
      await realm.stop();
    }
  });

  it('throws when the file has no principals', async () => {
    const ldif = join(PACKAGE_FOLDER, 'schema/60freeipa.ldif');
    await expect(startRealm({ ldif })).rejects.toThrow(/has no Kerberos/);
  });
});

describe('startRealm with the schema freeipa', () => {
  it('serves users, groups and tickets but no FAS attributes', async () => {
    const realm = await startRealm({ schema: 'freeipa' });
    try {
      const people = await ldapsearch(realm, {
        as: { ticketOf: 'alice' },
        base: USERS,
        filter: '(objectClass=posixAccount)',
        attributes: ['*', 'createTimestamp'],
      });
      expect(people).toHaveLength(202);
      expect(people[0]).toMatchObject({
        uid: ['alice'],
        createTimestamp: ['20070102030405Z'],
      });
      expect(JSON.stringify(people)).not.toMatch(/"fas\w*":|"fasuser"/i);
      const [schema] = await ldapsearch(realm, {
        as: portal(realm),
        base: 'cn=schema',
        scope: 'base',
        attributes: ['attributeTypes', 'objectClasses'],
      });
      const definitions = Object.values(schema).flat().join('\n');
      expect(definitions).toContain("NAME 'memberManager'");
      expect(definitions).not.toContain("NAME 'fas");
    } finally {
      await realm.stop();
    }
  });
});
