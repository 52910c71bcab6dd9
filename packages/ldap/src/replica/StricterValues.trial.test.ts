import type { Replication } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Accounts, userFieldNames } from '@directory-gateway/directory-core';
import {
  addFasGroup,
  addUser,
  context,
  eventually,
  groupDn,
  renamed,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';
import { TwoServers } from '../__testUtils__/TwoServers';

jest.setTimeout(600_000);

/** Longer than a switch takes on a busy machine. */
const HOLD_MS = 20_000;

const wholeUser = { fields: new Set(userFieldNames) };

const EXPIRED = new Date('2020-01-01T00:00:00Z');

const addNamed = (uid: string) =>
  addUser(uid, {
    objectClass: [
      ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux', 'ipaObject'],
      'fasUser',
    ],
    ipaUniqueID: `id-${uid}`,
  });
const setTo = (username: string, attribute: string, value: string) =>
  `dn: ${userDn(username)}
changetype: modify
replace: ${attribute}
${attribute}: ${value}

`;

describe('StricterValues with a second server that lags behind', () => {
  let pair: TwoServers;
  let replication: Replication;
  let opened: OpenReplica;
  let accounts: Accounts;

  beforeAll(async () => {
    pair = await TwoServers.start();
    replication = await pair.replicate();
    await pair.preferred.modify(
      ['frank', 'gina', 'leaver'].map(addNamed).join('') +
        addFasGroup('crew', [userDn('gina'), userDn('leaver')]),
    );
    await replication.caughtUp();
    opened = await openReplica({
      realm: pair.preferred,
      ldap: pair.ldap,
      holdMs: HOLD_MS,
    });
    const { replica, principals } = opened;
    const servers = { reachability: 'reachable' } as const;
    accounts = new Accounts({ principals, servers, replica: opened.accounts });
    replica.observe({
      onWrite: written => accounts.discard(written.keys),
      onConfirmed() {},
    });
  });
  afterAll(async () => {
    opened?.close();
    await pair?.stop();
  });

  const find = (username: string) =>
    opened.directory.getUser({ ...wholeUser, username }, context);
  const isMember = (username: string) =>
    opened.directory.isMember({ username, groupname: 'crew' }, context);

  /** What lists return for the users whose entries differ. */
  async function list() {
    const [alice, dave, frank] = await Promise.all(
      ['alice', 'dave', 'frank'].map(find),
    );
    return {
      private: alice?.is_private === true,
      deleted: dave === undefined,
      locked: frank?.locked === true,
      removed: !(await isMember('leaver')),
      renamed: (await isMember('gwen')) === true,
      formerName: (await find('gina')) !== undefined,
    };
  }

  /** What decisions are based on, for the same users. */
  async function decide() {
    const [dave, erin, frank, gina, leaver] = await Promise.all(
      ['dave', 'erin', 'frank', 'gina', 'leaver'].map(username =>
        accounts.find({ username }),
      ),
    );
    return {
      deleted: dave === undefined,
      expired: erin?.expires?.getTime() === EXPIRED.getTime(),
      locked: frank?.locked === true,
      removed: leaver?.groups.has('crew') === false,
      // The server may find a user by the former name, but not as that user.
      formerName: gina?.username === 'gina',
    };
  }

  const strict = {
    lists: {
      private: true,
      deleted: true,
      locked: true,
      removed: true,
      renamed: true,
      formerName: false,
    },
    decisions: {
      deleted: true,
      expired: true,
      locked: true,
      removed: true,
      formerName: false,
    },
  };
  const lax = {
    lists: {
      private: false,
      deleted: false,
      locked: false,
      removed: false,
      renamed: false,
      formerName: true,
    },
    decisions: {
      deleted: false,
      expired: false,
      locked: false,
      removed: false,
      formerName: true,
    },
  };
  const read = async () => ({
    lists: await list(),
    decisions: await decide(),
  });

  it('keeps values for lists and decisions, and releases them afterwards', async () => {
    const { replica, principals } = opened;
    await eventually(async () => expect(await read()).toEqual(lax));
    await replication.pause();
    await pair.preferred.modify(
      [
        setTo('alice', 'fasIsPrivate', 'TRUE'),
        setTo('frank', 'nsAccountLock', 'TRUE'),
        setTo('erin', 'krbPrincipalExpiration', '20200101000000Z'),
        `dn: ${userDn('dave')}\nchangetype: delete\n\n`,
        `dn: ${groupDn('crew')}\nchangetype: modify\ndelete: member\n`,
        `member: ${userDn('leaver')}\n\n`,
        renamed(userDn('gina'), 'uid=gwen'),
      ].join(''),
    );
    await eventually(async () => expect(await read()).toEqual(strict));

    const seen = { held: 0, lax: [] as unknown[] };
    let isDone = false;
    const isHeld = () =>
      replica.server !== pair.other.ldapsUrl || replica.stricter.isActive;
    const watch = async () => {
      while (!isDone) {
        const values = await read().catch(() => strict);
        if (isHeld()) {
          seen.held++;
          if (!isDeepStrictEqual(values, strict)) {
            seen.lax.push(values);
          }
        }
        await sleep(1);
      }
    };
    const watching = watch();

    await pair.preferred.directory.stop();
    await eventually(() => expect(replica.server).toBe(pair.other.ldapsUrl));
    // Entries that are written meanwhile keep the stricter values, too.
    await pair.other.modify(
      `${setTo(
        'alice',
        'mail',
        'late@example.test',
      )}dn: ${groupDn('crew')}\nchangetype: modify\nadd: member\nmember: ${userDn(
        'frank',
      )}\n\n`,
    );
    await eventually(async () =>
      expect(await find('alice')).toMatchObject({
        emails: ['late@example.test'],
      }),
    );
    // Control: the server itself would undo them.
    expect(
      await principals.find({ username: 'leaver' }, context),
    ).toMatchObject({
      server: pair.other.ldapsUrl,
      groups: new Set(['crew']),
    });
    await eventually(async () => expect(await read()).toEqual(lax));
    isDone = true;
    await watching;
    expect(seen.lax).toEqual([]);
    expect(seen.held).toBeGreaterThan(10);
    expect(replica.stricter.isActive).toBe(false);

    // The lagging server receives all changes. That to alice is older than the
    // last one to the entry, and does not change its USN.
    await pair.preferred.directory.start();
    await replication.resume();
    await eventually(async () => expect(await read()).toEqual(strict));
  });
});
