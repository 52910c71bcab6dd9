import { mockServices } from '@backstage/backend-test-utils';
import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  addUser,
  eventually,
  groupDn,
  renamed,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import {
  openReplica,
  type OpenReplica,
} from '@directory-gateway/ldap/testUtils';
import { GatewayChanges } from './GatewayChanges';
import { AccountHolds } from './holds/AccountHolds';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { RECORDS } from './records/certificateRows';
import { openAuthorities } from '../__testUtils__/certificates/openAuthorities';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';

/** Repetitions of all faults: 100 in `make trials`. */
const FAULTS = Number(process.env.HOLD_FAULTS || 1);

jest.setTimeout(900_000);

const USERS = 'cn=users,cn=accounts,dc=example,dc=test';
const DELETED_USERS =
  'cn=deleted users,cn=accounts,cn=provisioning,dc=example,dc=test';
const CONFIRMATION_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

const { signal } = new AbortController();

let realm: Realm;
let replica: OpenReplica;
const database = withDatabase();

beforeAll(async () => {
  realm = await startRealm();
  replica = await openReplica({ realm });
});
afterAll(async () => {
  replica?.close();
  await realm?.stop();
});

const modify = (ldif: string) => realm.modify(ldif);
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

/** Denies the service account a right. */
const setDenied = (kind: 'add' | 'delete', aci: string) =>
  modify(
    `dn: ${USERS}\nchangetype: modify\n${kind}: aci\naci: ${aci}(version 3.0; acl "fault"; deny (all) userdn = "ldap:///${realm.bindDn}";)\n`,
  );

/** Opens the holds with the database of the test and a new CA. */
async function openHolds(opened: OpenReplica) {
  const knex = await openDatabase(database);
  const authority = new PermissiveAuthority();
  const { authorities, issue, records } = openAuthorities(knex, {
    ca: authority,
  });
  let now = Date.now();
  const serialNumbers = new Map<string, bigint>();
  const auditor = mockServices.auditor.mock({
    createEvent: async () => ({ success: jest.fn(), fail: jest.fn() }),
  });
  const holds = new AccountHolds({
    auditor,
    authorities,
    changes: new GatewayChanges({ auditor, now: () => now }),
    config: { enabled: true },
    logger: mockServices.logger.mock(),
    database: knex,
    records,
    replica: opened.replica,
    replicated: opened.accounts,
    subjects: opened.principals,
    now: () => new Date(now),
  });
  return {
    /** Records a certificate as the issuance service does. */
    async issue(username: string, label = username) {
      const found = await opened.principals.find({ username }, { signal });
      const { id, serialNumber } = await issue({
        owner: { username, stableId: found!.stableId },
      });
      serialNumbers.set(label, serialNumber);
      await knex(RECORDS)
        .where({ id })
        .update({ not_after: new Date(Date.now() + 300 * DAY_MS) });
    },
    /** Runs, whether or not the directory can be read. */
    async run(laterMs: number) {
      now += laterMs;
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

async function withPeople(names: readonly string[]): Promise<Holds> {
  await modify(names.map(name => person(name)).join(''));
  const holds = await openHolds(replica);
  for (const name of names) {
    await replicated(name, 'active');
    await holds.issue(name);
  }
  return holds;
}

describe('AccountHolds', () => {
  it('holds, releases and revokes certificates when the account changes', async () => {
    const names = ['locked', 'deleted', 'moved', 'preserved'];
    const [locked, deleted, moved, preserved] = names;
    const holds = await withPeople([...names, 'first', 'second', 'third']);
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
    await holds.run(0);
    expect(await holds.reasons()).toEqual({});
    await holds.run(CONFIRMATION_MS);
    expect(await holds.reasons()).toEqual({
      locked: 6,
      deleted: 6,
      preserved: 6,
    });
    await setLock(locked, 'FALSE');
    await replicated(locked, 'active');
    await holds.run(0);
    expect(await holds.reasons()).toEqual({ deleted: 6, preserved: 6 });
    await holds.run(7 * DAY_MS);
    expect(await holds.reasons()).toEqual({ deleted: 5, preserved: 5 });
  });

  it.each(Array.from({ length: FAULTS }, (_, n) => n + 1))(
    'places no wrong holds while rights are lost, and all due holds afterwards (%i)',
    async round => {
      const [kept, leaving, other] = ['kept', 'leaving', 'other'].map(
        name => `${name}${round}`,
      );
      const holds = await withPeople([kept, leaving, other]);
      for (const aci of [
        '(targetattr = "*")',
        '(targetattr = "ipaUniqueID")',
        `(targetattr = "*")(targetfilter = "(uid=${kept})")`,
      ]) {
        await setDenied('add', aci);
        for (let n = 0; n < 5; n++) {
          await holds.run(CONFIRMATION_MS);
          expect(await holds.reasons()).toEqual({});
        }
        await setDenied('delete', aci);
      }
      await replicated(kept, 'active');
      await remove(leaving);
      await replicated(leaving, 'deleted');
      await eventually(async () => {
        await holds.run(CONFIRMATION_MS);
        expect(await holds.reasons()).toEqual({ [leaving]: 6 });
      });
    },
  );
});
