import type { People } from '../People';
import type { SeededRandom } from '../SeededRandom';
import type { SoakQuestion } from './SoakQuestion';

/** As the contract has it. */
const PAGE_SIZE = 40;
/** The groups whose members are exported: larger ones are mere volume. */
const EXPORTED_MEMBERS = 500;
/** Of ten questions about a name, one is about nobody. */
const NOBODY = 'nobody.at.all';

const MASKS = [
  undefined,
  undefined,
  'username,emails',
  'username,human_name,is_private,github_username',
  '*',
];

/** Who and what may be drawn. */
interface SoakDrawing {
  readonly random: SeededRandom;
  readonly people: People;
  /** Users and groups that are being written to, if there are any. */
  readonly written: {
    readonly usernames: readonly string[];
    readonly groupnames: readonly string[];
  };
}

/** The parts that paths are made of. */
class Draw {
  readonly #options: SoakDrawing;

  constructor(options: SoakDrawing) {
    this.#options = options;
  }

  /** Half of the time somebody who is being written to. */
  get user(): string {
    const { random, people, written } = this.#options;
    if (random.below(10) === 0) {
      return NOBODY;
    }
    return random.below(2) === 0 && written.usernames.length > 0
      ? random.pick(written.usernames)
      : random.pick(people.usernames);
  }

  /** A group name, encoded for a URL. */
  get group(): string {
    const { random, people, written } = this.#options;
    return encodeURIComponent(
      random.below(2) === 0 && written.groupnames.length > 0
        ? random.pick(written.groupnames)
        : random.pick(people.groups).name,
    );
  }

  /** As {@link group}, of a group with few members. */
  get smallGroup(): string {
    const { random, people } = this.#options;
    const small = people.groups.filter(
      ({ found }) => found.length <= EXPORTED_MEMBERS,
    );
    return encodeURIComponent(random.pick(small).name);
  }

  /** Any page of a list of so many. */
  page(size: number): string {
    const pages = Math.max(1, Math.ceil(size / PAGE_SIZE));
    const number = 1 + this.#options.random.below(pages);
    return `page_size=${PAGE_SIZE}&page_number=${number}`;
  }

  get pageOfUsers(): string {
    return this.page(this.#options.people.usernames.length);
  }

  get email(): string {
    const { random, people } = this.#options;
    const { emails } = random.pick(people.all);
    return encodeURIComponent(emails[0] ?? 'nobody@example.test');
  }

  /** Three characters of a name. */
  get letters(): string {
    const { random, people } = this.#options;
    const name = random.pick(people.usernames).padEnd(3, 'a');
    const start = random.below(name.length - 2);
    return encodeURIComponent(name.slice(start, start + 3));
  }
}

const PATHS: readonly ((draw: Draw) => string)[] = [
  () => '/me/',
  () => '/me/colleagues/',
  draw => `/users/?${draw.pageOfUsers}`,
  draw => `/users/${draw.user}/`,
  draw => `/users/${draw.user}/`,
  draw => `/users/${draw.user}/groups/`,
  draw => `/users/${draw.user}/agreements/`,
  draw => `/users/${draw.user}/memberships/`,
  draw => `/users/${draw.user}/sponsored-groups/`,
  draw => `/users/${draw.user}/certificates/`,
  draw => `/groups/?${draw.page(200)}`,
  draw => `/groups/${draw.group}/`,
  draw => `/groups/${draw.group}/members/?${draw.page(400)}`,
  draw => `/groups/${draw.group}/members/?membership=direct`,
  draw => `/groups/${draw.group}/members/?q=${draw.letters}`,
  draw => `/groups/${draw.group}/member-groups/`,
  draw => `/groups/${draw.group}/sponsors/`,
  draw => `/groups/${draw.group}/is-member/${draw.user}`,
  draw => `/groups/${draw.smallGroup}/members.csv`,
  draw => `/search/users/?username=${draw.letters}`,
  draw => `/search/users/?human_name=${draw.letters}`,
  draw => `/search/users/?username__exact=${draw.user}`,
  draw => `/search/users/?email=${draw.email}`,
  draw => `/search/users/?group=${draw.group}`,
  draw => `/search/users/?group=${draw.group}&username=${draw.letters}`,
  draw => `/search/users/?github_username=*&${draw.page(200)}`,
  () => '/search/users/?creation__before=2015-06-01',
  draw => `/search/groups/?q=${draw.letters}`,
  draw => `/search/groups/?groupname__exact=${draw.group}`,
  () => '/certs/profiles/',
  () => '/certs/1/',
];

/** Draws a question of any operation that reads. */
export function drawSoakQuestion(drawing: SoakDrawing): SoakQuestion {
  const { random } = drawing;
  const draw = new Draw(drawing);
  return { path: random.pick(PATHS)(draw), mask: random.pick(MASKS) };
}
