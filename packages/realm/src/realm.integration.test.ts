import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Control } from 'ldapts';
import type { Realm } from './Realm';
import { startRealm } from './startRealm';
import { ldapsearch } from './replication/ldapsearch';
import { memberships, repairMemberships } from './__testUtils__/memberships';

jest.setTimeout(600_000);

/** OID of Get Effective Rights in 389 Directory Server and FreeIPA. */
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

describe('startRealm', () => {
  let realm: Realm;
  let portal: { dn: string; passwordFile: string };

  beforeAll(async () => {
    realm = await startRealm();
    portal = { dn: realm.bindDn, passwordFile: realm.bindPasswordFile };
  });

  afterAll(async () => {
    await realm.stop();
  });

  /** Connects over LDAPS and trusts only the realm's CA. */
  async function connect(): Promise<Client> {
    const client = new Client({
      url: realm.ldapsUrl,
      tlsOptions: { ca: [await readFile(realm.caFile)] },
      timeout: 10_000,
      connectTimeout: 10_000,
    });
    await client.bind(
      realm.bindDn,
      await readFile(realm.bindPasswordFile, 'utf8'),
    );
    return client;
  }

  it('binds with a ticket as the entry of the principal', async () => {
    const [self] = await ldapsearch(realm, {
      as: { ticketOf: 'alice' },
      filter: '(krbPrincipalName=alice@EXAMPLE.TEST)',
      attributes: ['mail'],
    });
    expect(self.texts('mail')).toContain('alice@example.test');
  });

  it.each([
    'alice.liddell',
    'bot/builder.example.test',
    'host/build1.example.test',
  ])('binds with the ticket of %s', async ticketOf => {
    const found = await ldapsearch(realm, {
      as: { ticketOf },
      filter: '(uid=bob)',
    });
    expect(found).toHaveLength(1);
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
    const client = await connect();
    const { searchEntries } = await client.search(realm.baseDn, {
      filter: '(&(objectClass=fasUser)(mail=alice@example.test))',
      attributes: ['uid'],
    });
    expect(searchEntries).toMatchObject([{ uid: 'alice' }]);
    await client.unbind();
    const untrusting = new Client({
      url: realm.ldapsUrl,
      connectTimeout: 10_000,
    });
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
    const names = entries.flatMap(entry => [...entry].map(([name]) => name));
    expect(new Set(names)).toEqual(new Set(['uid', 'cn', 'entryusn']));
    const [root] = await ldapsearch(realm, {
      as: 'anonymous',
      base: '',
      options: ['-s', 'base'],
      attributes: ['namingContexts', 'lastusn'],
    });
    expect(root.texts('namingContexts')).toEqual([realm.baseDn]);
    expect(root.texts('lastusn')).toHaveLength(1);
  });

  it('lets the service account read private flags, locks and expirations', async () => {
    const entries = await ldapsearch(realm, {
      as: portal,
      filter: '(|(uid=bob)(uid=carol)(uid=eve))',
      attributes: [
        'uid',
        'fasIsPrivate',
        'nsAccountLock',
        'krbPrincipalExpiration',
      ],
    });
    const flags = entries.map(entry => [
      ...entry.texts('uid'),
      entry.texts('fasIsPrivate')[0],
      entry.texts('nsAccountLock')[0],
      entry.texts('krbPrincipalExpiration')[0],
    ]);
    expect(flags).toEqual([
      ['bob', 'TRUE', undefined, undefined],
      ['carol', 'FALSE', 'TRUE', undefined],
      ['eve', undefined, undefined, '20200101000000Z'],
    ]);
  });

  it('does not return modifiersName to the service account', async () => {
    const [alice] = await ldapsearch(realm, {
      as: portal,
      filter: '(uid=alice)',
      attributes: ['entryusn', 'modifyTimestamp', 'modifiersName'],
    });
    expect([...alice].map(([name]) => name)).toEqual([
      'entryusn',
      'modifyTimestamp',
    ]);
  });

  it('returns read-only effective rights of the service account', async () => {
    const client = await connect();
    const { searchEntries } = await client.search(
      `uid=alice,cn=users,cn=accounts,${realm.baseDn}`,
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
    for (const as of [portal, { ticketOf: 'alice' }, { ticketOf: 'admin' }]) {
      const entries = await ldapsearch(realm, {
        as,
        attributes: ['userPassword', 'krbPrincipalKey'],
      });
      expect(entries.length).toBeGreaterThan(0);
      expect(entries.flatMap(entry => [...entry])).toEqual([]);
      expect(
        await ldapsearch(realm, { as, filter: '(userPassword=*)' }),
      ).toEqual([]);
    }
  });

  it('shows agreements, members and sponsors to authenticated clients', async () => {
    const entries = await ldapsearch(realm, {
      as: { ticketOf: 'bot/builder.example.test' },
      filter: '(|(cn=FPCA)(cn=packager))',
      attributes: ['member', 'memberUser', 'memberManager', 'ipaEnabledFlag'],
    });
    const names = entries.flatMap(entry => [...entry].map(([name]) => name));
    expect(new Set(names)).toEqual(
      new Set(['member', 'memberUser', 'memberManager', 'ipaEnabledFlag']),
    );
  });

  it('imports the memberOf values that the plugin computes', async () => {
    const imported = await memberships(realm);
    await repairMemberships(realm);
    expect(await memberships(realm)).toEqual(imported);
  });

  it('updates nested memberships, references and the USN after a change', async () => {
    const lastUsn = async () => {
      const [root] = await ldapsearch(realm, {
        as: 'anonymous',
        base: '',
        options: ['-s', 'base'],
        attributes: ['lastusn'],
      });
      return Number(root.texts('lastusn')[0]);
    };
    const before = await lastUsn();
    const base = `cn=groups,cn=accounts,${realm.baseDn}`;
    await realm.modify(`dn: cn=rel-eng,${base}
changetype: modify
add: member
member: uid=x,cn=users,cn=accounts,${realm.baseDn}
`);
    const after = await memberships(realm);
    const groups = after[`uid=x,cn=users,cn=accounts,${realm.baseDn}`];
    expect(groups).toEqual(
      expect.arrayContaining([`cn=rel-eng,${base}`, `cn=packager,${base}`]),
    );
    expect(await lastUsn()).toBeGreaterThan(before);
    await realm.modify(`dn: uid=x,cn=users,cn=accounts,${realm.baseDn}
changetype: delete
`);
    const members = await ldapsearch(realm, {
      as: portal,
      filter: `(member=uid=x,cn=users,cn=accounts,${realm.baseDn})`,
    });
    expect(members).toEqual([]);
  });

  it('throws when a modified entry does not exist', async () => {
    await expect(
      realm.modify(`dn: uid=nobody,${realm.baseDn}\nchangetype: delete\n`),
    ).rejects.toThrow(/No such object/);
  });

  it('rotates the service key and removes old keys', async () => {
    const versions = async () => {
      const list = await promisify(execFile)('klist', ['-k', realm.keytab]);
      return list.stdout
        .split('\n')
        .filter(line => line.includes('HTTP/localhost'))
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
    await ldapsearch(realm, { as: portal, filter });
    expect(await readFile(realm.accessLog, 'utf8')).toContain(filter);
  });

  it('buffers the access log on request', async () => {
    const buffered = await startRealm({ accessLog: 'buffered' });
    try {
      const filter = '(uid=seen-later)';
      await ldapsearch(buffered, { as: portal, filter });
      expect(await readFile(buffered.accessLog, 'utf8')).not.toContain(filter);
    } finally {
      await buffered.stop();
    }
  });

  it('caches tickets and rejects unknown users', async () => {
    expect(await realm.ticket('alice')).toBe(
      await realm.ticket('alice@EXAMPLE.TEST'),
    );
    await expect(realm.ticket('nobody')).rejects.toThrow(/nobody/);
  });

  it('stops, kills, pauses and restarts the directory server', async () => {
    const { directory } = realm;
    const search = () =>
      ldapsearch(realm, { as: portal, filter: '(uid=alice)' });
    for (const end of ['stop', 'kill'] as const) {
      await directory[end]();
      await expect(search()).rejects.toThrow(/Can't contact/);
      await directory.start();
      expect(await search()).toHaveLength(1);
    }
    await directory.pause();
    const pid = await readFile(join(realm.dir, 'slapd.pid'), 'utf8');
    const threads = await readdir(`/proc/${pid.trim()}/task`);
    const states = await Promise.all(
      threads.map(async thread => {
        const path = `/proc/${pid.trim()}/task/${thread}/stat`;
        return (await readFile(path, 'utf8')).split(') ')[1].charAt(0);
      }),
    );
    expect(new Set(states)).toEqual(new Set(['T']));
    const waiting = search();
    await directory.resume();
    expect(await waiting).toHaveLength(1);
  });
});
