import type { Faker } from '@faker-js/faker';
import type { Group } from './Group';

const KINDS = [
  'sig',
  'team',
  'commits',
  'wg',
  'maint',
  'qa',
  'docs',
  'sponsors',
];

/** Number of users per group, and minimum number of groups. */
const PEOPLE_PER_GROUP = 60;
const FEWEST = 24;

/** Generates FAS groups: a few large ones and many small ones. */
export function randomGroups({
  faker,
  people,
  taken,
}: {
  faker: Faker;
  /** DNs of possible members and sponsors. */
  people: readonly string[];
  /** Group names in lower case; new ones are added. */
  taken: Set<string>;
}): Group[] {
  const maybe = (probability: number, make: () => string) =>
    faker.helpers.maybe(make, { probability });
  const count = Math.max(FEWEST, Math.round(people.length / PEOPLE_PER_GROUP));
  return Array.from({ length: count }, (_, rank) => {
    const share = Math.ceil((0.02 * people.length) / (rank + 1));
    const size = share + faker.number.int({ min: 0, max: 12 });
    const name = uniqueName(faker, taken);
    const description = () => `${name}: ${faker.company.buzzPhrase()}`;
    return {
      name,
      description: maybe(0.8, description),
      members: faker.helpers.arrayElements([...people], size),
      sponsors: faker.helpers.arrayElements([...people], { min: 0, max: 4 }),
      posix: true,
      fas: {
        url: maybe(0.4, () => `https://example.test/${name}`),
        mailingList: maybe(0.6, () => `${name}@lists.example.test`),
        channels: [maybe(0.5, () => `irc:///#${name}`) ?? []].flat(),
        discussionUrl: maybe(0.3, () => `https://discuss.example.test/${name}`),
      },
    };
  });
}

function uniqueName(faker: Faker, taken: Set<string>): string {
  const topic = faker.hacker.noun().replace(/[^a-z]/gi, '');
  const glue = faker.helpers.arrayElement(['-', '-', '-', '_', '.', '']);
  const wanted = `${topic}${glue}${faker.helpers.arrayElement(
    KINDS,
  )}`.toLowerCase();
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) {
    name = `${wanted}${count}`;
  }
  taken.add(name);
  return name;
}
