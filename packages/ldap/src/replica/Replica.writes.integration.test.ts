import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  allOf,
  type Directory,
  groupFieldNames,
  userFieldNames,
} from '@directory-gateway/directory-core';
import {
  change,
  conformanceEntries,
  context,
  dumpEntries,
  edit,
  eventuallyReturns,
  groupSearch,
  memberSelection,
  NaiveDirectory,
  resultsOf,
  searchTerms,
} from '@directory-gateway/directory-core/testUtils';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';

jest.setTimeout(600_000);

/** Rounds of writes; `make trials` sets a higher number. */
const ROUNDS = Number(process.env.ROUNDS || 1);
const WRITES = 12;
const QUERIES = 300;

type Query = (directory: Directory) => Promise<unknown>;

const page = { number: 1, size: 10_000 };
const wholeUser = { fields: new Set(userFieldNames) };
const wholeGroup = { fields: new Set(groupFieldNames) };
const everyone = { ...wholeUser, from: { kind: 'all' }, page } as const;
const allGroups = { ...wholeGroup, from: { kind: 'all' }, page } as const;

let realm: Realm;
let shared: OpenReplica | undefined;

beforeAll(async () => {
  realm = await startRealm();
  await realm.modify(conformanceEntries('fas'));
  shared = await openReplica({ realm });
});
afterAll(async () => {
  shared?.close();
  await realm?.stop();
});

/** Generates queries of all kinds about users and groups of the model. */
function queryOf(model: NaiveDirectory): fc.Arbitrary<Query> {
  const usernames = model.users.map(user => user.text('uid')!);
  const username = fc.constantFrom(...usernames);
  const groupname = fc.constantFrom(...model.groups.map(g => g.text('cn')!));
  const unlockedOnly = fc.boolean();
  const users = { ...wholeUser, page };
  const groups = { ...wholeGroup, page };
  return fc.oneof(
    fc
      .record({
        where: searchTerms(model).map(terms => allOf(...terms)),
        unlockedOnly,
      })
      .map(
        query => (d: Directory) =>
          d.listUsers({ ...everyone, ...query }, context),
      ),
    groupSearch(model).map(
      where => (d: Directory) => d.listGroups({ ...allGroups, where }, context),
    ),
    fc
      .record({ username, unlockedOnly })
      .map(query => async (d: Directory) => [
        await d.getUser({ ...wholeUser, ...query }, context),
        await d.listGroups(
          { ...groups, from: { kind: 'ofUser', ...query } },
          context,
        ),
        await d.listAgreements({ ...query, page }, context),
      ]),
    username.map(name => async (d: Directory) => [
      await d.listGroups(
        { ...groups, from: { kind: 'ofUser', username: name, reasons: true } },
        context,
      ),
      await d.listGroups(
        { ...groups, from: { kind: 'sponsoredBy', username: name } },
        context,
      ),
    ]),
    fc.tuple(groupname, memberSelection(model)).map(
      ([name, { membership, where }]) =>
        (d: Directory) =>
          d.listUsers(
            {
              ...users,
              from: { kind: 'membersOf', groupname: name, membership },
              where,
            },
            context,
          ),
    ),
    groupname.map(name => async (d: Directory) => [
      await d.getGroup({ ...wholeGroup, groupname: name }, context),
      await d.listUsers(
        { ...users, from: { kind: 'membersOf', groupname: name } },
        context,
      ),
      await d.listUsers(
        { ...users, from: { kind: 'sponsorsOf', groupname: name } },
        context,
      ),
      await d.listGroups(
        { ...groups, from: { kind: 'nestedIn', groupname: name } },
        context,
      ),
      await d.countMembers({ groupnames: [name] }, context),
    ]),
    fc
      .record({ username, groupname })
      .map(query => (d: Directory) => d.isMember(query, context)),
    unlockedOnly.map(
      only => (d: Directory) =>
        d.listUsers({ ...everyone, unlockedOnly: only }, context),
    ),
  );
}

function queriesAbout(model: NaiveDirectory, seed: number) {
  return fc.sample(queryOf(model), { numRuns: QUERIES, seed });
}

/** Returns results that depend on all rows, lists and links. */
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

/** Makes random changes one after another. */
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

function resultsFrom(directory: Directory, queries: readonly Query[]) {
  return resultsOf(queries, query => query(directory));
}

/** Runs queries until a promise settles. */
async function queryUntil(
  end: Promise<unknown>,
  queries: readonly Query[],
): Promise<void> {
  let isDone = false;
  const done = end.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await resultsFrom(shared!.directory, queries.slice(0, 40));
    await sleep(1);
  }
  await done;
}

/** Waits until a replica returns the same results as the model. */
async function expectSynced(
  model: NaiveDirectory,
  { directory }: OpenReplica = shared!,
): Promise<void> {
  const expected = await whole(model);
  await eventuallyReturns(() => whole(directory), expected);
}

it(`returns the same results as the model for ${
  ROUNDS * QUERIES
} random queries during changes`, async () => {
  let model = await readModel();
  for (let round = 0; round < ROUNDS; round++) {
    const before = queriesAbout(model, round);
    // Results cached for these queries must not outlive the changes.
    await queryUntil(write(round), before);
    model = await readModel();
    await expectSynced(model);
    // Includes queries about deleted and about new entries.
    const queries = [
      ...before.slice(QUERIES / 2),
      ...queriesAbout(model, ROUNDS + round).slice(QUERIES / 2),
    ];
    expect(await resultsFrom(shared!.directory, queries)).toEqual(
      await resultsFrom(model, queries),
    );
  }
  expect(shared!.logger.lines.filter(line => !line.startsWith('info'))).toEqual(
    [],
  );
});
