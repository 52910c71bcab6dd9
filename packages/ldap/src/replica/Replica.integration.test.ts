import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type Directory,
  DirectoryUnavailableError,
  groupFieldNames,
  userFieldNames,
} from '@directory-gateway/directory-core';
import {
  addFasUser,
  context,
  dumpEntries,
  eventually,
  eventuallyReturns,
  groupDn,
  NaiveDirectory,
  renamed,
  userDn,
  withdrawn,
} from '@directory-gateway/directory-core/testUtils';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';
import { LdapReplicaSource } from '../LdapReplicaSource';

jest.setTimeout(600_000);

const page = { number: 1, size: 10_000 };
const wholeUser = { fields: new Set(userFieldNames) };
const wholeGroup = { fields: new Set(groupFieldNames) };
const everyone = { ...wholeUser, from: { kind: 'all' }, page } as const;
const allGroups = { ...wholeGroup, from: { kind: 'all' }, page } as const;

let realm: Realm;
let opened: OpenReplica | undefined;

beforeEach(async () => {
  realm = await startRealm();
});
afterEach(async () => {
  jest.restoreAllMocks();
  opened?.close();
  await realm?.stop();
});

async function modelOf(server = realm): Promise<NaiveDirectory> {
  return new NaiveDirectory(await dumpEntries(server), 'fas');
}

/** Returns all users, all groups and the lists of some groups. */
async function view(directory: Directory, groupnames: readonly string[]) {
  return {
    users: await directory.listUsers(everyone, context),
    groups: await directory.listGroups(allGroups, context),
    ofGroups: await Promise.all(
      groupnames.map(async groupname => [
        await directory.listUsers(
          { ...wholeUser, from: { kind: 'membersOf', groupname }, page },
          context,
        ),
        await directory.listUsers(
          { ...wholeUser, from: { kind: 'sponsorsOf', groupname }, page },
          context,
        ),
      ]),
    ),
    inGroups: await directory.listUsers(
      { ...everyone, where: { kind: 'memberOfAny' } },
      context,
    ),
  };
}

/** Waits until the replica matches the current state of a server. */
async function expectToFollow(
  { directory }: OpenReplica,
  server = realm,
): Promise<void> {
  const model = await modelOf(server);
  const groupnames = [
    'packager',
    ...model.groups.map(g => g.text('cn')!),
  ].slice(0, 40);
  const expected = await view(model, groupnames);
  await eventuallyReturns(() => view(directory, groupnames), expected);
}

async function usernames({ directory }: OpenReplica): Promise<string[]> {
  const users = await directory.listUsers(everyone, context);
  return users!.items.map(({ username }) => username);
}

it('shows a renamed user and group under one name at any time', async () => {
  const usersNamed = ['bob', ...Array.from({ length: 50 }, (_, n) => `u${n}`)];
  const groupsNamed = ['design', ...usersNamed.slice(1).map(u => `g.${u}`)];
  opened = await openReplica({ realm });
  const { directory, accounts } = opened;
  /** Reads everything in one turn of the event loop. */
  const read = async () => {
    const users = await Promise.all(
      usersNamed.map(username =>
        directory.getUser({ ...wholeUser, username }, context),
      ),
    );
    const groups = await Promise.all(
      groupsNamed.map(groupname =>
        directory.getGroup({ ...wholeGroup, groupname }, context),
      ),
    );
    const [username, ...others] = usersNamed.filter((_, at) => users[at]);
    const [groupname, ...otherGroups] = groupsNamed.filter(
      (_, at) => groups[at],
    );
    return {
      others: [...others, ...otherGroups],
      accounts: accounts.find({ username: username ?? '' }).length,
      isMember: await directory.isMember(
        { username: username ?? '', groupname: groupname ?? '' },
        context,
      ),
    };
  };
  const expected = { others: [], accounts: 1, isMember: true };
  const wrong = new Set<string>();
  let turns = 0;
  let isDone = false;
  const reading = (async () => {
    while (!isDone) {
      const found = await read();
      turns++;
      if (!isDeepStrictEqual(found, expected)) {
        wrong.add(JSON.stringify(found));
      }
      await nextTurn();
    }
  })();
  for (let index = 1; index < usersNamed.length; index++) {
    await realm.modify(
      renamed(userDn(usersNamed[index - 1]), `uid=${usersNamed[index]}`) +
        renamed(groupDn(groupsNamed[index - 1]), `cn=${groupsNamed[index]}`),
    );
  }
  const query = {
    username: usersNamed.at(-1)!,
    groupname: groupsNamed.at(-1)!,
  };
  await eventually(async () =>
    expect(await directory.isMember(query, context)).toBe(true),
  );
  isDone = true;
  await reading;
  expect([...wrong]).toEqual([]);
  expect(turns).toBeGreaterThan(50);
});

it('rejects a directory that hides most of its users', async () => {
  opened = await openReplica({ realm });
  const before = await usernames(opened);
  const shown = before.filter(name => /^a/i.test(name));
  expect(shown.length).toBeLessThan(before.length / 2);
  const aci = `(targetattr = "*")(targetfilter = "(!(uid=a*))")(version 3.0; acl "hide most"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)`;
  await realm.modify(
    `dn: cn=users,cn=accounts,${realm.baseDn}\nchangetype: modify\nadd: aci\naci: ${aci}\n`,
  );
  // No write hides the entries: unique IDs are compared after an outage.
  await realm.directory.stop();
  await realm.directory.start();

  await eventually(() =>
    expect(opened!.replica.status).toMatchObject({ reason: 'quarantine' }),
  );
  await expect(usernames(opened)).rejects.toThrow(DirectoryUnavailableError);

  opened.guardRecords.overrides.push({ users: shown.length, groups: 0 });
  opened.replica.retry();
  await eventually(async () => expect(await usernames(opened!)).toEqual(shown));
});

/** Hides an attribute from the service account while a function runs. */
async function whileHidden(
  attribute: string,
  run: () => Promise<void>,
  targetFilter = '(objectClass=*)',
): Promise<void> {
  const aci = `(targetattr = "${attribute}")(targetfilter = "${targetFilter}")(version 3.0; acl "hide ${attribute}"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)`;
  const changeRules = (operation: string) =>
    realm.modify(
      `dn: cn=accounts,${realm.baseDn}\nchangetype: modify\n${operation}: aci\naci: ${aci}\n`,
    );
  await changeRules('add');
  await run();
  await changeRules('delete');
}

function mailOf(username: string, mail: string): string {
  return `dn: ${userDn(
    username,
  )}\nchangetype: modify\nreplace: mail\nmail: ${mail}\n`;
}

it('falls back to full syncs while the account cannot search for USNs', async () => {
  opened = await openReplica({ realm, syncIntervalMs: 1000 });
  await whileHidden('entryusn', async () => {
    await realm.modify(addFasUser('unseen'));
    await eventually(async () =>
      expect(await usernames(opened!)).toContain('unseen'),
    );
    await eventually(() => expect(opened!.replica.mode).toBe('full'));
    await realm.modify(withdrawn('unseen'));
    await eventually(async () =>
      expect(await usernames(opened!)).not.toContain('unseen'),
    );
  });
  expect(
    opened.logger.lines.filter(line => line.includes('cannot search for USNs')),
  ).toHaveLength(1);
});

it('never returns a private user as public when the flag cannot be read', async () => {
  opened = await openReplica({ realm, maxStalenessMs: 1000 });
  const { users } = await modelOf();
  const username = users
    .find(user => user.text('fasIsPrivate') === 'TRUE')!
    .text('uid')!;
  const seen: (boolean | undefined)[] = [];
  const readUser = async () => {
    const user = await opened!.directory
      .getUser({ ...wholeUser, username }, context)
      .catch(() => undefined);
    seen.push(...(user ? [user.is_private] : []));
    return user;
  };
  await whileHidden('fasIsPrivate', async () => {
    await realm.modify(mailOf(username, 'hidden@example.test'));
    await eventually(async () => {
      await readUser();
      expect(opened!.replica.status).toMatchObject({
        kind: 'suspended',
        reason: 'accessCheck',
      });
    });
  });

  await eventually(async () =>
    expect(await readUser()).toMatchObject({ emails: ['hidden@example.test'] }),
  );
  expect(new Set(seen)).toEqual(new Set([true]));
  expect(opened.logger.lines.filter(isFullSync)).toHaveLength(1);
});

it('stays suspended while the comparison of all entries cannot read a required attribute', async () => {
  opened = await openReplica({ realm, checkIntervalMs: 1000 });
  const { users } = await modelOf();
  const username = users
    .findLast(user => user.text('fasIsPrivate') === 'TRUE')!
    .text('uid')!;
  const hidden = async () => {
    await eventually(() =>
      expect(opened!.replica.status).toMatchObject({
        kind: 'suspended',
        reason: 'accessCheck',
      }),
    );
    for (let polls = 0; polls < 20; polls++) {
      await sleep(100);
      await expect(usernames(opened!)).rejects.toThrow(
        DirectoryUnavailableError,
      );
    }
  };
  await whileHidden('fasIsPrivate', hidden, `(uid=${username})`);

  await eventually(() => expect(opened!.replica.isServing).toBe(true));
  await expectToFollow(opened);
});

it('corrects entries that were unreadable when they were written', async () => {
  // Only the comparison of all entries corrects them.
  jest.spyOn(LdapReplicaSource.prototype, 'readRecent').mockResolvedValue();
  opened = await openReplica({ realm, checkIntervalMs: 1000 });
  const mails = async () => {
    const query = { ...wholeUser, username: 'alice' };
    const user = await opened!.directory.getUser(query, context);
    return user?.emails;
  };
  await whileHidden('mail', async () => {
    await realm.modify(mailOf('alice', 'alice@new.example.test'));
    await eventually(async () => expect(await mails()).toBeUndefined());
  });

  await eventually(async () =>
    expect(await mails()).toEqual(['alice@new.example.test']),
  );
});

function isFullSync(line: string): boolean {
  return /First sync finished|Replica was synced/.test(line);
}
