import type { Entry } from 'ldapts';
import { either, equal, type DirectoryClient } from '../DirectoryClient';
import type { SeededRandom } from '../SeededRandom';
import { userAttributes } from './userAttributes';

/** A page, drawn from all pages of an ordered list of user names. */
export interface DrawnPage {
  readonly number: number;
  readonly names: readonly string[];
  /** Texts that the page's answer contains. */
  readonly expected: readonly string[];
}

/** The size that the contract has by default, and searches at most. */
export const PAGE_SIZE = 40;

/** Draws any page of a list: its first and last name and the total are known. */
export function drawPage(
  random: SeededRandom,
  usernames: readonly string[],
): DrawnPage {
  const pages = Math.max(1, Math.ceil(usernames.length / PAGE_SIZE));
  const number = 1 + random.below(pages);
  const names = usernames.slice((number - 1) * PAGE_SIZE, number * PAGE_SIZE);
  const edges = [names[0], names.at(-1)].filter(name => name !== undefined);
  return {
    number,
    names,
    expected: [
      `"total_results":${usernames.length}`,
      ...edges.map(name => `"username":${JSON.stringify(name)}`),
    ],
  };
}

/** The records of a page's users, in one search. */
export async function askForPage(
  directory: DirectoryClient,
  names: readonly string[],
): Promise<readonly Entry[]> {
  if (names.length === 0) {
    return [];
  }
  return directory.below({
    container: directory.containers.users,
    filters: [
      equal('objectClass', 'fasUser'),
      either(names.map(name => equal('uid', name))),
    ],
    attributes: userAttributes,
  });
}
