import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  conformanceEntries,
  groupDn,
  userDn,
} from '../__testUtils__/conformance/entries';
import {
  addFasGroup,
  addFasUser,
  change,
  edit,
  renamed,
  withdrawn,
} from '../__testUtils__/conformance/changeArbitrary';
import { eventually } from '../__testUtils__/eventually';
import { type Fault, FaultProxy } from '../__testUtils__/ldap/FaultProxy';
import { dumpEntries } from '../__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from '../__testUtils__/naive/NaiveDirectory';
import {
  openReplica,
  type OpenReplica,
} from '../__testUtils__/ldap/openReplica';
import {
  question,
  type Question,
} from '../__testUtils__/conformance/queryArbitrary';
import { resultsOf, context } from '../__testUtils__/conformance/queries';
import type { Directory } from '../directory/Directory';
import { groupFieldNames, userFieldNames } from '../directory/schema';

jest.setTimeout(180_000);

const ROUNDS = 5;
const WRITES = 12;
const QUESTIONS = 300;

const page = { number: 1, size: 10_000 };
const wholeUser = { fields: new Set(userFieldNames) };
const wholeGroup = { fields: new Set(groupFieldNames) };
const everyone = { ...wholeUser, from: { kind: 'all' }, page } as const;
const allGroups = { ...wholeGroup, from: { kind: 'all' }, page } as const;

let realm: Realm;
let copy: OpenReplica | undefined;

beforeAll(async () => {
  realm = await startRealm();
  await realm.modify(conformanceEntries('fas'));
  copy = await openReplica({ realm });
});
afterAll(async () => {
  copy?.close();
  await realm?.stop();
});

function questionsAbout(model: NaiveDirectory, seed: number) {
  return fc.sample(question(model), { numRuns: QUESTIONS, seed });
}

/** All that a wrong place of a row, a list or a link would show in. */
async function whole(directory: Directory) {
  return [
    await directory.listUsers(everyone, context),
    await directory.listGroups(allGroups, context),
    await directory.listUsers(
      { ...everyone, where: { kind: 'memberOfAny' } },
      context,
    ),
  ];
}

async function readModel(): Promise<NaiveDirectory> {
  return new NaiveDirectory(await dumpEntries(realm), 'fas');
}

/** Writes what the directory accepts, one after the other. */
async function write(round: number): Promise<void> {
  for (let step = 0; step < WRITES; step++) {
    const model = await readModel();
    const name = `new.${round}.${step}`;
    const [{ ldif }] = fc.sample(
      fc.oneof(change(model, name), edit(model, name)),
      { numRuns: 1, seed: round * WRITES + step },
    );
    await realm.modify(ldif);
  }
}

function answers(directory: Directory, questions: readonly Question[]) {
  return resultsOf(questions, ask => ask(directory));
}

/** Asks the copy again and again until a promise is settled. */
async function askUntil(
  end: Promise<unknown>,
  questions: readonly Question[],
): Promise<void> {
  let isOver = false;
  const over = end.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await answers(copy!.directory, questions.slice(0, 40));
    await sleep(1);
  }
  await over;
}

/** Waits until a replica is what the directory has become. */
async function expectToBe(
  model: NaiveDirectory,
  { directory }: OpenReplica = copy!,
): Promise<void> {
  const expected = await whole(model);
  await eventually(async () =>
    expect(await whole(directory)).toEqual(expected),
  );
}

it(`answers ${
  ROUNDS * QUESTIONS
} random questions as the directory does, which is written to all the time`, async () => {
  let model = await readModel();
  for (let round = 0; round < ROUNDS; round++) {
    const before = questionsAbout(model, round);
    // What is gathered and kept for these meanwhile must not stay.
    await askUntil(write(round), before);
    model = await readModel();
    await expectToBe(model);
    // About those who have gone, and those who have come.
    const questions = [
      ...before.slice(QUESTIONS / 2),
      ...questionsAbout(model, ROUNDS + round).slice(QUESTIONS / 2),
    ];
    expect(await answers(copy!.directory, questions)).toEqual(
      await answers(model, questions),
    );
  }
  expect(copy!.logger.lines.filter(line => !line.startsWith('info'))).toEqual(
    [],
  );
});

it('removes deleted, renamed and withdrawn entries without another write', async () => {
  const users = ['a.deleted', 'b.renamed', 'c.withdrawn'];
  const added = users.map(name => addFasUser(name)).join('');
  await realm.modify(added + addFasGroup('g.deleted', []));
  const listed = async () => {
    const people = await copy!.directory.listUsers(everyone, context);
    const groups = await copy!.directory.listGroups(allGroups, context);
    return [
      ...people!.items.map(({ username }) => username),
      ...groups!.items.map(({ group }) => group.groupname),
    ];
  };
  const removed = [...users, 'g.deleted'];
  await eventually(async () =>
    expect(await listed()).toEqual(expect.arrayContaining(removed)),
  );
  await realm.modify(
    [
      `dn: ${userDn('a.deleted')}\nchangetype: delete\n\n`,
      renamed(userDn('b.renamed'), 'uid=b.new'),
      withdrawn('c.withdrawn'),
      `dn: ${groupDn('g.deleted')}\nchangetype: delete\n\n`,
    ].join(''),
  );
  await expectToBe(await readModel());
  const left = await listed();
  expect(left.filter(name => removed.includes(name))).toEqual([]);
  expect(left).toContain('b.new');
});

describe.each<[string, (offset: number) => Fault]>([
  ['cut off', after => ({ kind: 'truncate', after })],
  [
    'corrupted',
    offset => ({
      kind: 'change',
      change: (bytes, at) => {
        const changed = Buffer.from(bytes);
        if (offset >= at && offset < at + changed.length) {
          changed[offset - at] ^= 1 << offset % 8;
        }
        return changed;
      },
    }),
  ],
])('when streams from the server are %s', (_how, fault) => {
  let proxy: FaultProxy;
  let opened: OpenReplica | undefined;

  beforeEach(async () => {
    proxy = await FaultProxy.start(realm.ldapsUrl);
  });
  afterEach(async () => {
    opened?.close();
    await proxy.stop();
  });

  function open(): Promise<OpenReplica> {
    const ldapsUrl = `ldaps://localhost:${proxy.port}`;
    return openReplica({ realm: { ...realm, ldapsUrl } });
  }

  /** Number of connections that have ended of those after the first ones. */
  function ended(first = 0): number {
    return proxy.accepted - first - proxy.open;
  }

  it.each([2500, 6000, 20_000, 60_000, 120_000])(
    'syncs all entries or none (after %s bytes)',
    async offset => {
      const expected = await whole(await readModel());
      proxy.toClient = fault(offset);
      const opening = open();
      await eventually(() => expect(ended()).toBeGreaterThan(2));
      proxy.toClient = { kind: 'pass' };
      opened = await opening;
      expect(await whole(opened.directory)).toEqual(expected);
    },
  );

  it('follows all changes and never shows a private user as public', async () => {
    opened = await open();
    const { directory } = opened;
    const model = await readModel();
    const isPrivate = new Set(
      model.users
        .filter(user => user.text('fasIsPrivate') === 'TRUE')
        .map(user => user.text('uid')!),
    );
    const [changed] = isPrivate;
    const exposed = new Set<string>();
    let reads = 0;
    const look = async () => {
      const users = await directory
        .listUsers(everyone, context)
        .catch(() => undefined);
      const { items } = users ?? { items: [] };
      reads += items.length;
      items
        .filter(user => isPrivate.has(user.username) && !user.is_private)
        .forEach(({ username }) => exposed.add(username));
    };
    for (const offset of [2500, 3500, 4500, 6000, 9000]) {
      const { accepted } = proxy;
      proxy.toClient = fault(offset);
      proxy.reset();
      await realm.modify(
        `dn: ${userDn(
          changed,
        )}\nchangetype: modify\nreplace: mail\nmail: ${offset}@example.test\n`,
      );
      await eventually(async () => {
        await look();
        expect(ended(accepted)).toBeGreaterThan(2);
      });
      proxy.toClient = { kind: 'pass' };
      await eventually(async () => {
        await look();
        const user = await directory.getUser(
          { ...wholeUser, username: changed },
          context,
        );
        expect(user?.emails).toEqual([`${offset}@example.test`]);
      });
      await expectToBe(await readModel(), opened);
    }
    expect(isPrivate.size).toBeGreaterThan(1);
    expect(reads).toBeGreaterThan(0);
    expect([...exposed]).toEqual([]);
  });
});
