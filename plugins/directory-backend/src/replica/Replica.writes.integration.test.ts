import { startRealm, type Realm } from '@directory-gateway/realm';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { conformanceEntries } from '../__testUtils__/conformanceEntries';
import { change, edit } from '../__testUtils__/changeArbitrary';
import { eventually } from '../__testUtils__/eventually';
import { dumpEntries } from '../__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from '../__testUtils__/naive/NaiveDirectory';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';
import { question, type Question } from '../__testUtils__/questionArbitrary';
import { answersOf, context } from '../directory/conformanceQuestions';
import type { Directory } from '../directory/Directory';
import { groupFieldNames, userFieldNames } from '../directory/schema';

jest.setTimeout(180_000);

const ROUNDS = 5;
const WRITES = 12;
const QUESTIONS = 300;

const page = { number: 1, size: 10_000 };
const wholeUser = {
  fields: new Set(userFieldNames),
  visibleTo: { kind: 'everything' },
} as const;
const wholeGroup = { fields: new Set(groupFieldNames) };

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
    await directory.listUsers({ ...wholeUser, page }, context),
    await directory.listGroups({ ...wholeGroup, page }, context),
    await directory.searchUsers(
      { ...wholeUser, page, terms: [{ kind: 'memberOfAny' }] },
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
  return answersOf(questions, ask => ask(directory));
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

/** Waits until the copy is what the directory has become. */
async function expectToBe(model: NaiveDirectory): Promise<void> {
  const expected = await whole(model);
  await eventually(async () =>
    expect(await whole(copy!.directory)).toEqual(expected),
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
