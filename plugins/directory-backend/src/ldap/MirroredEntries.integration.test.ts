import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  addFasGroup,
  addFasUser,
  change,
  renamed,
  withdrawn,
} from '../__testUtils__/changeArbitrary';
import { groupDn, userDn } from '../__testUtils__/conformanceEntries';
import { dumpEntries } from '../__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from '../__testUtils__/naive/NaiveDirectory';
import {
  createLdapDirectory,
  openLdapDirectory,
  openLdapPool,
  type OpenLdapDirectory,
} from '../__testUtils__/openLdapDirectory';
import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import type { Directory, DirectoryContext } from '../directory/Directory';
import type { LdapPool, LdapSearcher } from './LdapPool';
import { UsnClock } from './UsnClock';

jest.setTimeout(180_000);

/** Longer than any test: nothing that is gone is looked for. */
const NEVER_MS = 3_600_000;

const context: DirectoryContext = {
  caller: {
    kind: 'portalService',
    credentials: {
      $$type: '@backstage/BackstageCredentials',
      principal: { type: 'service', subject: 'plugin:test' },
    },
  },
  signal: new AbortController().signal,
};
const visibleTo = { kind: 'everything' } as const;
const page = { number: 1, size: 10_000 };
const names = new Set(['username'] as const);
const groupNames = new Set(['groupname'] as const);

let realm: Realm;
const opened: OpenLdapDirectory[] = [];

beforeEach(async () => {
  realm = await startRealm();
});
afterEach(async () => {
  for (const directory of opened.splice(0)) {
    directory.close();
  }
  await realm?.stop();
});

function open(comparisonIntervalMs: number): Directory {
  const directory = openLdapDirectory({ realm, comparisonIntervalMs });
  opened.push(directory);
  return directory.directory;
}

async function modelOf(of: Realm = realm): Promise<NaiveDirectory> {
  return new NaiveDirectory(await dumpEntries(of), 'fas');
}

/** What lists, memberships and signatures say at the moment. */
async function view(
  directory: Directory,
  { users, groups }: { users: readonly string[]; groups: readonly string[] },
): Promise<unknown> {
  const list = { page, visibleTo };
  return {
    users: await directory.listUsers({ ...list, fields: names }, context),
    locks: await directory.listUsers(
      { ...list, fields: new Set(['username', 'locked'] as const) },
      context,
    ),
    groups: await directory.listGroups({ page, fields: groupNames }, context),
    ofGroups: await Promise.all(
      groups.map(async groupname => [
        await directory.listGroupMembers(
          { ...list, groupname, fields: names },
          context,
        ),
        await directory.listGroupSponsors(
          { groupname, visibleTo, fields: names },
          context,
        ),
        ...(await Promise.all(
          users.map(username =>
            directory.isMember({ groupname, username }, context),
          ),
        )),
      ]),
    ),
    ofUsers: await Promise.all(
      users.map(async username => [
        await directory.listUserGroups(
          { username, page, fields: groupNames },
          context,
        ),
        await directory.listUserAgreements({ username, page }, context),
      ]),
    ),
  };
}

/** Asks until the answer is as expected, or gives the last one. */
async function eventually(
  ask: () => Promise<unknown>,
  expected: unknown,
): Promise<unknown> {
  let seen = await ask();
  for (let tries = 0; tries < 200; tries++) {
    if (isDeepStrictEqual(seen, expected)) {
      break;
    }
    await sleep(50);
    seen = await ask();
  }
  return seen;
}

it('follows every kind of change', async () => {
  const directory = open(0);
  let model = await modelOf();
  const steps = 5;
  for (let step = 0; step < steps; step++) {
    const [{ ldif, removes }] = fc.sample(change(model, `new.${step}`), {
      numRuns: 1,
      seed: step,
    });
    await realm.modify(ldif);
    model = await modelOf();
    const about = {
      users: fc.sample(fc.constantFrom(...usernames(model)), {
        numRuns: 4,
        seed: step,
      }),
      groups: ['packager', `new.${step}`],
    };
    const expected = await view(model, about);
    await sleep(UsnClock.maxAgeMs);
    // What is gone takes a little longer to be noticed.
    const seen = removes
      ? await eventually(() => view(directory, about), expected)
      : await view(directory, about);
    expect({ ldif, seen }).toEqual({ ldif, seen: expected });
  }
});

function usernames(model: NaiveDirectory): readonly string[] {
  return model.users.map(user => user.text('uid')!);
}

it('notices what is gone without another write', async () => {
  const directory = open(0);
  await realm.modify(addFasUser('a.gone') + addFasUser('b.moved'));
  await realm.modify(addFasUser('c.out') + addFasGroup('g.gone', []));
  const list = async () => [
    await directory.listUsers({ page, visibleTo, fields: names }, context),
    await directory.listGroups({ page, fields: groupNames }, context),
  ];
  const seen = JSON.stringify(await list());
  expect(seen).toContain('a.gone');
  expect(seen).toContain('g.gone');
  await realm.modify(
    [
      `dn: ${userDn('a.gone')}\nchangetype: delete\n\n`,
      renamed(userDn('b.moved'), 'uid=b.there'),
      withdrawn('c.out'),
      `dn: ${groupDn('g.gone')}\nchangetype: delete\n\n`,
    ].join(''),
  );
  const model = await modelOf();
  const expected = [
    await model.listUsers({ page, visibleTo, fields: names }),
    await model.listGroups({ page, fields: groupNames }),
  ];
  expect(await eventually(list, expected)).toEqual(expected);
});

it('finds what could not be seen yet when it was counted', async () => {
  const logger = new RecordingLogger();
  const pool = openLdapPool(realm, logger);
  let isHidden = true;
  const directory = createLdapDirectory({
    ...{ realm, logger, comparisonIntervalMs: NEVER_MS },
    searcher: {
      verifyBind: async () => {},
      // As while a write is under way whose plug-ins have made theirs.
      async search(search, asking) {
        const { entries, server } = await pool.search(search, asking);
        const seen = entries.filter(
          ({ dn }) => !(isHidden && dn.startsWith('cn=slow,')),
        );
        return { entries: seen, server };
      },
    },
  });
  const list = async () => {
    await sleep(UsnClock.maxAgeMs);
    const groups = await directory.listGroups(
      { page, fields: groupNames },
      context,
    );
    return groups.items.map(({ groupname }) => groupname);
  };
  await list();
  await realm.modify(addFasGroup('slow', []) + addFasGroup('quick', []));
  const before = await list();
  expect([before.includes('slow'), before.includes('quick')]).toEqual([
    false,
    true,
  ]);
  isHidden = false;
  expect(await list()).toContain('slow');
  pool.close();
});

describe('when another server answers', () => {
  const about = { users: ['alice', 'dave'], groups: ['packager', 'design'] };
  const logger = new RecordingLogger();
  let second: Realm;
  let pools: readonly LdapPool[];

  beforeEach(async () => {
    second = await startRealm();
    await second.modify(addFasUser('only.here') + addFasGroup('here', []));
    pools = [realm, second].map(of => openLdapPool(of, logger));
  });
  afterEach(async () => {
    for (const pool of pools) {
      pool.close();
    }
    await second?.stop();
  });

  function on(searcher: LdapSearcher): Directory {
    return createLdapDirectory({
      ...{ realm, searcher, logger, comparisonIntervalMs: NEVER_MS },
    });
  }

  async function seenOn(directory: Directory): Promise<unknown> {
    await sleep(UsnClock.maxAgeMs);
    return view(directory, about);
  }

  async function stateOf(of: Realm): Promise<unknown> {
    return view(await modelOf(of), about);
  }

  it('reads everything again at once, there and back', async () => {
    let [current] = pools;
    const directory = on({
      verifyBind: async () => {},
      search: (search, asking) => current.search(search, asking),
    });
    await realm.modify(addFasUser('first'));
    expect(await seenOn(directory)).toEqual(await stateOf(realm));
    current = pools[1];
    expect(await seenOn(directory)).toEqual(await stateOf(second));
    await realm.modify(addFasUser('meanwhile'));
    current = pools[0];
    expect(await seenOn(directory)).toEqual(await stateOf(realm));
  });

  it('notices by its lower numbers one that has the same name', async () => {
    let [current] = pools;
    const directory = on({
      verifyBind: async () => {},
      async search(search, asking) {
        const { entries } = await current.search(search, asking);
        return { entries, server: 'ldaps://directory.example.test' };
      },
    });
    const { users } = await modelOf();
    await realm.modify(
      addFasGroup(
        'counting',
        users.slice(0, 50).map(({ dn }) => dn),
      ),
    );
    expect(await seenOn(directory)).toEqual(await stateOf(realm));
    current = pools[1];
    expect(await seenOn(directory)).toEqual(await stateOf(second));
  });
});
