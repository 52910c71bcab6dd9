import { escapeFilterValue, type DirectoryClient } from '../DirectoryClient';
import type { People } from '../People';
import type { SeededRandom } from '../SeededRandom';
import {
  IS_USER,
  randomPage,
  readPage,
  type Scenario,
  type ScenarioRequest,
} from './Scenario';

/** Number of different search texts. */
const TEXTS = 200;

const searchGoals: Scenario['goals'] = { negotiate: { p50Ms: 3 } };

/** Searches for users, with random pages of the results. */
export function searchScenarios(
  people: People,
  random: SeededRandom,
): readonly Scenario[] {
  const group = people.groupOfSize(1000);
  const texts = randomTexts(people, random);
  const byEmail = [...people.byEmail];
  const withGithub = people.all
    .filter(({ hasGithub, isPrivate }) => hasGithub && !isPrivate)
    .map(({ username }) => username);
  return [
    {
      name: '/search/users/ email=',
      goals: searchGoals,
      next(source) {
        const [email, found] = source.pick(byEmail);
        return search(source, {
          query: `email=${encodeURIComponent(email)}`,
          found,
          filter: () => `(mail=${escapeFilterValue(email)})`,
        });
      },
    },
    {
      name: '/search/users/ username=abc',
      goals: { negotiate: { ratio: 0.35, p50Ms: 5 } },
      next(source) {
        const { text, found } = source.pick(texts);
        return search(source, {
          query: `username=${text}`,
          found,
          filter: () => `(uid=*${text}*)`,
        });
      },
    },
    {
      name: '/search/users/ group= of ~1,000',
      goals: searchGoals,
      next: source =>
        search(source, {
          query: `group=${encodeURIComponent(group.name)}`,
          found: group.found,
          filter: directory => `(memberOf=${directory.groupDn(group.name)})`,
        }),
    },
    {
      name: '/search/users/ github_username=*',
      goals: searchGoals,
      next: source =>
        search(source, {
          query: 'github_username=*',
          found: withGithub,
          filter: () => '(fasGitHubUsername=*)',
        }),
    },
  ];
}

/**
 * Returns a request for one page of a search. The LDAP baseline reads the keys
 * of all results, then the records of the page.
 */
function search(
  random: SeededRandom,
  options: {
    readonly query: string;
    readonly found: readonly string[];
    readonly filter: (directory: DirectoryClient) => string;
  },
): ScenarioRequest {
  const { query, found, filter } = options;
  const { number, names, expected } = randomPage(random, found);
  return {
    path: `/search/users/?${query}&page_number=${number}`,
    expected,
    ldap: {
      entries: names.length,
      async query(directory) {
        await directory.search(
          directory.users,
          `(&${IS_USER}${filter(directory)})`,
          ['uid'],
        );
        return readPage(directory, names);
      },
    },
  };
}

/** Returns texts of three letters, with the user names that contain them. */
function randomTexts(people: People, random: SeededRandom) {
  const texts = new Set<string>();
  const names = people.usernames.filter(name => /[a-z]{3}/.test(name));
  for (let count = 0; count < TEXTS; count++) {
    const [letters] = /[a-z]{3,}/.exec(random.pick(names)) ?? [''];
    const start = random.below(letters.length - 2);
    texts.add(letters.slice(start, start + 3));
  }
  return [...texts].map(text => ({
    text,
    found: people.usernames.filter(name => name.toLowerCase().includes(text)),
  }));
}
