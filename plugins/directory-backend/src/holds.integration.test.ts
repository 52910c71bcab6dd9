import { mockServices } from '@backstage/backend-test-utils';
import {
  createSigningRequest,
  RecordingLogger,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { Replication } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccountHolds } from './certificates/holds/AccountHolds';
import { HoldRecords } from './certificates/holds/HoldRecords';
import { PermissiveAuthority } from './__testUtils__/certificates/PermissiveAuthority';
import { CertificateRecords } from './certificates/CertificateRecords';
import { addUser, groupDn, userDn } from './__testUtils__/conformance/entries';
import { renamed } from './__testUtils__/conformance/changeArbitrary';
import { eventually } from './__testUtils__/eventually';
import {
  openReplica,
  type OpenReplica,
} from './__testUtils__/ldap/openReplica';
import { TwoServers } from './__testUtils__/ldap/TwoServers';
import { withDatabase } from './__testUtils__/withDatabase';
import { openDatabase } from './openDatabase';

/** Repetitions of all faults: 100 in `make trials`. */
const FAULTS = Number(process.env.HOLD_FAULTS || 1);

jest.setTimeout(900_000);

const USERS = 'cn=users,cn=accounts,dc=example,dc=test';
const DELETED_USERS =
  'cn=deleted users,cn=accounts,cn=provisioning,dc=example,dc=test';
const DAY_MS = 24 * 60 * 60_000;

const { signal } = new AbortController();

let servers: TwoServers;
let replication: Replication | undefined;
let replica: OpenReplica;
const database = withDatabase();

beforeAll(async () => {
  servers = await TwoServers.start();
  replica = await openReplica({
    realm: servers.preferred,
    ldap: servers.ldap,
  });
});
afterAll(async () => {
  replica?.close();
  await servers?.stop();
});

const modify = (ldif: string) => servers.preferred.modify(ldif);
const setLock = (name: string, value: 'TRUE' | 'FALSE') =>
  modify(
    `dn: ${userDn(
      name,
    )}\nchangetype: modify\nreplace: nsAccountLock\nnsAccountLock: ${value}\n`,
  );
const remove = (name: string) =>
  modify(`dn: ${userDn(name)}\nchangetype: delete\n`);

/** An account with a name, in a group like every user of FreeIPA. */
const person = (name: string, id = name) =>
  `${addUser(name, {
    objectClass: [
      ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux'],
      ...['ipaObject', 'fasUser'],
    ],
    ipaUniqueID: `id-of-${id}`,
  })}dn: ${groupDn(
    'packager',
  )}\nchangetype: modify\nadd: member\nmember: ${userDn(name)}\n\n`;

/** Denies the service account a right on both servers. */
const setDenied = (kind: 'add' | 'delete', aci: string) =>
  modify(
    `dn: ${USERS}\nchangetype: modify\n${kind}: aci\naci: ${aci}(version 3.0; acl "fault"; deny (all) userdn = "ldap:///${servers.preferred.bindDn}";)\n`,
  );

/** Opens the holds with the database of the test and a new CA. */
async function openHolds(opened: OpenReplica) {
  const knex = await openDatabase(database);
  const authority = new PermissiveAuthority();
  const certificates = new CertificateRecords(knex);
  const records = new HoldRecords(knex);
  const logger = new RecordingLogger();
  let laterMs = 0;
  const serialNumbers = new Map<string, bigint>();
  const holds = new AccountHolds({
    auditor: mockServices.auditor.mock({
      createEvent: async () => ({ success: jest.fn(), fail: jest.fn() }),
    }),
    authority,
    config: { maxPerHour: 5, revokeDeletedAfterMs: 7 * DAY_MS },
    logger,
    records,
    replica: opened.replica,
    replicated: opened.accounts,
    subjects: opened.principals,
    now: () => new Date(Date.now() + laterMs),
  });
  return {
    logger,
    records,
    /** Records a certificate as the issuance service does. */
    async issue(username: string, label = username) {
      const found = await opened.principals.find({ username }, { signal });
      const { certificate } = await authority.sign(
        createSigningRequest({
          username,
          principal: `${username}@EXAMPLE.TEST`,
          profile: 'userCerts',
          organization: 'EXAMPLE.TEST',
          key: 'p256',
        }),
      );
      const { description } = certificate;
      const serialNumber = description.ok
        ? description.certificate.serialNumber
        : 0n;
      serialNumbers.set(label, serialNumber);
      await certificates.add({
        serialNumber,
        username,
        subjectId: found!.stableId,
        profile: 'userCerts',
        label,
        publicKey: Buffer.alloc(0),
        notAfter: new Date(Date.now() + 300 * DAY_MS),
        lookupServer: found!.server,
      });
    },
    /** Lets time pass for the margins of {@link AccountHolds}. */
    later(ms: number) {
      laterMs += ms;
    },
    /** Runs until a run has checked all certificates. */
    async run() {
      laterMs += 60_000;
      await eventually(async () => expect(await holds.run(signal)).toBe(true));
    },
    /** Runs, whether or not the directory can be read. */
    async tryRun() {
      laterMs += 60_000;
      await holds.run(signal).catch(() => {});
    },
    /** Reason codes by label; those of usable certificates are missing. */
    async reasons() {
      const reasons: Record<string, number> = {};
      for (const [label, serialNumber] of serialNumbers) {
        const issued = await authority.get(serialNumber);
        if (issued?.revocation) {
          reasons[label] = issued.revocation.reason;
        }
      }
      return reasons;
    },
  };
}

type Holds = Awaited<ReturnType<typeof openHolds>>;

/** Waits until the replica has a state of a user. */
async function replicated(
  name: string,
  state: 'active' | 'locked' | 'deleted',
): Promise<void> {
  await eventually(() => {
    const [found] = replica.accounts.find({ username: name });
    const locked = found?.locked ? 'locked' : 'active';
    expect(found ? locked : 'deleted').toBe(state);
  });
}

/** Lets the replica follow the first server: it does not return by itself. */
async function followPreferred(): Promise<void> {
  const { other, preferred } = servers;
  if (replica.replica.server !== preferred.ldapsUrl) {
    await other.directory.stop();
    await eventually(() =>
      expect(replica.replica.server).toBe(preferred.ldapsUrl),
    );
    await other.directory.start();
    await replication!.caughtUp();
  }
}

const followsOther = () =>
  eventually(() => expect(replica.replica.server).toBe(servers.other.ldapsUrl));

async function withPeople(names: readonly string[]): Promise<Holds> {
  await modify(names.map(name => person(name)).join(''));
  const holds = await openHolds(replica);
  for (const name of names) {
    await replicated(name, 'active');
    await holds.issue(name);
  }
  await holds.run();
  expect(await holds.reasons()).toEqual({});
  return holds;
}

describe('AccountHolds', () => {
  it('holds, releases and revokes certificates when the account changes', async () => {
    const [locked, deleted, moved, preserved] = [
      ...['locked', 'deleted', 'moved', 'preserved'],
    ];
    const holds = await withPeople([locked, deleted, moved, preserved]);
    await setLock(locked, 'TRUE');
    await remove(deleted);
    await modify(renamed(userDn(moved), 'uid=married'));
    await modify(
      `dn: ${userDn(
        preserved,
      )}\nchangetype: modrdn\nnewrdn: uid=${preserved}\ndeleteoldrdn: 0\nnewsuperior: ${DELETED_USERS}\n`,
    );
    // Another user gets the name of each.
    await modify(person(deleted, 'successor') + person(moved, 'another'));
    await replicated(locked, 'locked');
    await replicated(preserved, 'deleted');
    await replicated('married', 'active');
    await eventually(async () => {
      await holds.run();
      expect(await holds.reasons()).toEqual({
        locked: 6,
        deleted: 6,
        preserved: 6,
      });
    });
    await setLock(locked, 'FALSE');
    await replicated(locked, 'active');
    await eventually(async () => {
      await holds.run();
      expect(await holds.reasons()).toEqual({ deleted: 6, preserved: 6 });
    });
    holds.later(7 * DAY_MS);
    await holds.run();
    expect(await holds.reasons()).toEqual({ deleted: 5, preserved: 5 });
  });

  it('waits for an approval above the limit', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `many${n}`);
    const holds = await withPeople(names);
    for (const name of names) {
      await setLock(name, 'TRUE');
    }
    await replicated(names[7], 'locked');
    await eventually(async () => {
      await holds.run();
      expect(Object.keys(await holds.reasons())).toHaveLength(5);
    });
    expect(holds.logger.lines.join('\n')).toContain(
      'The certificates of 3 locked or deleted users are waiting',
    );
    const now = new Date(Date.now() + 600_000);
    const approve = (count: number) =>
      holds.records.approve({ count, approvedBy: 'root' }, now);
    await expect(approve(4)).rejects.toThrow('is not 4');
    await approve(3);
    // An approval cannot be repeated.
    await expect(approve(3)).rejects.toThrow('is not 3');
    await holds.run();
    expect(Object.keys(await holds.reasons())).toHaveLength(8);
  });

  it.each(Array.from({ length: FAULTS }, (_, n) => n + 1))(
    'places no wrong holds during faults and all due holds afterwards (%i)',
    async round => {
      replication ??= await servers.replicate();
      const [kept, leaving, back, late] = 'kept leaving back late'
        .split(' ')
        .map(name => `${name}${round}`);
      const holds = await withPeople([kept, leaving, back]);
      const expectNone = async () => {
        for (let n = 0; n < 5; n++) {
          await holds.tryRun();
          expect(await holds.reasons()).toEqual({});
          await sleep(50);
        }
      };

      // Rights are lost: all, those on the IDs, those on one user.
      for (const aci of [
        '(targetattr = "*")',
        '(targetattr = "ipaUniqueID")',
        `(targetattr = "*")(targetfilter = "(uid=${kept})")`,
      ]) {
        await setDenied('add', aci);
        await expectNone();
        await setDenied('delete', aci);
      }
      await replicated(kept, 'active');

      // A new user is not yet on a server that lags, and an unlocked one is
      // locked there.
      await setLock(back, 'TRUE');
      await replicated(back, 'locked');
      await eventually(async () => {
        await holds.run();
        expect(await holds.reasons()).toEqual({ [back]: 6 });
      });
      await replication.caughtUp();
      await replication.pause();
      await setLock(back, 'FALSE');
      await modify(person(late));
      await replicated(late, 'active');
      await replicated(back, 'active');
      await eventually(async () => {
        await holds.run();
        expect(await holds.reasons()).toEqual({});
      });
      await holds.issue(late);
      await servers.preferred.directory.stop();
      await followsOther();
      await expectNone();

      // The first server is available again, and everything is replicated.
      await servers.preferred.directory.start();
      await replication.resume();
      await replication.caughtUp();
      await remove(leaving);
      await replication.caughtUp();
      await replicated(leaving, 'deleted');
      await replicated(late, 'active');
      await eventually(async () => {
        await holds.run();
        expect(await holds.reasons()).toEqual({ [leaving]: 6 });
      });

      // The check continues on the first server.
      await followPreferred();
      await holds.run();
      expect(await holds.reasons()).toEqual({ [leaving]: 6 });
    },
  );
});
