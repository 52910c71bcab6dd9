import { startRealm, type Realm } from '@directory-gateway/realm';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  groupFieldNames,
  userFieldNames,
} from '@directory-gateway/directory-core';
import {
  context,
  dumpEntries,
  eventually,
  groupDn,
  NaiveDirectory,
  renamed,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';

jest.setTimeout(600_000);

const wholeUser = { fields: new Set(userFieldNames) };
const wholeGroup = { fields: new Set(groupFieldNames) };

let realm: Realm;
let opened: OpenReplica | undefined;

beforeAll(async () => {
  realm = await startRealm();
});
afterEach(() => opened?.close());
afterAll(() => realm?.stop());

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

/** Hides an attribute from the service account while a function runs. */
async function whileHidden(
  attribute: string,
  run: () => Promise<void>,
): Promise<void> {
  const aci = `(targetattr = "${attribute}")(version 3.0; acl "hide ${attribute}"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)`;
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

it('never returns a private user as public when the flag cannot be read', async () => {
  opened = await openReplica({ realm, maxStalenessMs: 1000 });
  const { users } = new NaiveDirectory(await dumpEntries(realm), 'fas');
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

function isFullSync(line: string): boolean {
  return /First sync finished|Replica was synced/.test(line);
}
