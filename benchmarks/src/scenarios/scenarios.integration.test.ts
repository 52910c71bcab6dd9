import { startRealm, type Realm } from '@directory-gateway/realm';
import { DirectoryClient } from '../DirectoryClient';
import { queryLdap } from '../measureRows';
import { People } from '../People';
import { SeededRandom } from '../SeededRandom';
import { groupScenarios } from './groups';
import type { Scenario } from './Scenario';
import { searchScenarios } from './searches';
import { userScenarios } from './users';

jest.setTimeout(180_000);

describe('scenarios', () => {
  const { signal } = new AbortController();
  let realm: Realm;
  let directory: DirectoryClient;
  let people: People;
  let scenarios: readonly Scenario[];

  beforeAll(async () => {
    realm = await startRealm();
    directory = await DirectoryClient.connect(realm);
    people = await People.read(directory);
    scenarios = [
      ...userScenarios(people),
      ...groupScenarios(people),
      ...searchScenarios(people, new SeededRandom(1)),
    ];
  });

  afterAll(async () => {
    await directory?.close();
    await realm?.stop();
  });

  it('expect the number of entries that the directory returns', async () => {
    const random = new SeededRandom(2);
    const queryOften = (scenario: Scenario) =>
      queryLdap({
        directory,
        next: () => scenario.next(random, random.pick(people.usernames)),
        ms: 0,
        atLeast: 30,
        signal,
      });
    for (const scenario of scenarios) {
      expect((await queryOften(scenario))?.count).toBe(30);
    }
  });

  it('fail when the directory returns a different number of entries', async () => {
    const { path, expected, ldap } = scenarios[0].next(
      new SeededRandom(1),
      'alice',
    );
    await expect(
      queryLdap({
        directory,
        next: () => ({ path, expected, ldap: { ...ldap!, entries: 2 } }),
        ms: 0,
        atLeast: 1,
        signal,
      }),
    ).rejects.toThrow(
      'The directory returned 1 entries instead of 2 for /users/',
    );
  });

  it('send varied requests, which are the same in each run', () => {
    const paths = (scenario: Scenario) => {
      const random = new SeededRandom(3);
      return Array.from(
        { length: 20 },
        () => scenario.next(random, 'alice').path,
      );
    };
    for (const scenario of scenarios.filter(({ name }) => name !== '/me/')) {
      expect(paths(scenario)).toEqual(paths(scenario));
      expect(new Set(paths(scenario)).size).toBeGreaterThan(1);
    }
  });
});
