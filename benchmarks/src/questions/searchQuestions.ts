import { SubstringFilter, type Filter } from 'ldapts';
import { equal, present, type DirectoryClient } from '../DirectoryClient';
import type { People } from '../People';
import type { SeededRandom } from '../SeededRandom';
import { askForPage, drawPage } from './drawPage';
import { searchGoals, substringGoals } from './goals';
import type { Drawn, Question } from './Question';

const MIDDLE_SIZE = 1000;
/** More different texts would show nothing that these do not. */
const TEXTS = 200;
const LETTERS = 3;

/** The searches for users; results are drawn by the page. */
export function searchQuestions(
  people: People,
  random: SeededRandom,
): readonly Question[] {
  const group = people.groupOfSize(MIDDLE_SIZE);
  const substrings = drawSubstrings(people, random);
  const byEmail = [...people.byEmail];
  const withGithub = people.all
    .filter(({ hasGithub, isPrivate }) => hasGithub && !isPrivate)
    .map(({ username }) => username);
  return [
    {
      name: '/search/users/ email=',
      goals: searchGoals,
      draw(source) {
        const [email, found] = source.pick(byEmail);
        return search(source, {
          query: `email=${encodeURIComponent(email)}`,
          found,
          filter: () => equal('mail', email),
        });
      },
    },
    {
      name: '/search/users/ username=abc',
      goals: substringGoals,
      draw(source) {
        const { text, found } = source.pick(substrings);
        return search(source, {
          query: `username=${text}`,
          found,
          filter: () => new SubstringFilter({ attribute: 'uid', any: [text] }),
        });
      },
    },
    {
      name: '/search/users/ group= of ~1,000',
      goals: searchGoals,
      draw: source =>
        search(source, {
          query: `group=${group.name}`,
          found: group.found,
          filter: directory => equal('memberOf', directory.groupDn(group.name)),
        }),
    },
    {
      name: '/search/users/ github_username=*',
      goals: searchGoals,
      draw: source =>
        search(source, {
          query: 'github_username=*',
          found: withGithub,
          filter: () => present('fasGitHubUsername'),
        }),
    },
  ];
}

/** A page of what a search finds: its keys, then the page's records. */
function search(
  random: SeededRandom,
  options: {
    readonly query: string;
    readonly found: readonly string[];
    readonly filter: (directory: DirectoryClient) => Filter;
  },
): Drawn {
  const { query, found, filter } = options;
  const { number, names, expected } = drawPage(random, found);
  return {
    path: `/search/users/?${query}&page_number=${number}`,
    expected,
    async ask(directory) {
      await directory.below({
        container: directory.containers.users,
        filters: [equal('objectClass', 'fasUser'), filter(directory)],
        attributes: ['uid'],
      });
      return askForPage(directory, names);
    },
    entries: names.length,
  };
}

/** Three letters of somebody's name, and all whose names have them. */
function drawSubstrings(
  people: People,
  random: SeededRandom,
): readonly { readonly text: string; readonly found: readonly string[] }[] {
  const drawn = new Set<string>();
  const long = people.usernames.filter(name => /[a-z]{3}/.test(name));
  for (let tries = 0; tries < TEXTS; tries++) {
    const [letters] = /[a-z]{3,}/.exec(random.pick(long)) ?? [''];
    const start = random.below(letters.length - LETTERS + 1);
    drawn.add(letters.slice(start, start + LETTERS));
  }
  return [...drawn].map(text => ({
    text,
    found: people.usernames.filter(name => name.toLowerCase().includes(text)),
  }));
}
