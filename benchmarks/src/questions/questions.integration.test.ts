import { startRealm, type Realm } from '@directory-gateway/realm';
import { askDirectory } from '../rows/askDirectory';
import { DirectoryClient } from '../DirectoryClient';
import { People } from '../People';
import { SeededRandom } from '../SeededRandom';
import { groupQuestions } from './groupQuestions';
import type { Question } from './Question';
import { searchQuestions } from './searchQuestions';
import { userQuestions } from './userQuestions';

jest.setTimeout(180_000);

describe('the questions of the bench, asked of the directory itself', () => {
  let realm: Realm;
  let directory: DirectoryClient;
  let people: People;
  let questions: readonly Question[];

  beforeAll(async () => {
    realm = await startRealm();
    directory = await DirectoryClient.connect(realm);
    people = await People.read(directory);
    questions = [
      ...userQuestions(people),
      ...groupQuestions(people),
      ...searchQuestions(people, new SeededRandom(1)),
    ];
  });

  afterAll(async () => {
    await directory?.close();
    await realm?.stop();
  });

  it('have as many answers as they say, whatever is drawn', async () => {
    const random = new SeededRandom(2);
    const askOften = (question: Question) =>
      askDirectory({
        directory,
        draw: () => question.draw(random, random.pick(people.usernames)),
        ms: 0,
        atLeast: 30,
        signal: new AbortController().signal,
      });
    for (const question of questions) {
      expect((await askOften(question))?.count).toBe(30);
    }
  });

  it('are noticed when the directory has something else', async () => {
    const [oneUser] = questions;
    await expect(
      askDirectory({
        directory,
        draw: () => ({
          ...oneUser.draw(new SeededRandom(1), 'alice'),
          entries: 2,
        }),
        ms: 0,
        atLeast: 1,
        signal: new AbortController().signal,
      }),
    ).rejects.toThrow('The directory has 1 entries, not 2, for /users/');
  });

  it('differ from one another, in the same way in every run', () => {
    const paths = ({ draw }: Question) => {
      const random = new SeededRandom(3);
      return Array.from({ length: 20 }, () => draw(random, 'alice').path);
    };
    for (const question of questions.filter(({ name }) => name !== '/me/')) {
      expect(paths(question)).toEqual(paths(question));
      expect(new Set(paths(question)).size).toBeGreaterThan(1);
    }
  });
});
