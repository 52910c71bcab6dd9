import type { Faker } from '@faker-js/faker';
import type { Group } from './Group';

/** Kinds of groups, with their descriptions in the demo. */
const KINDS: Record<string, (topic: string) => string> = {
  sig: topic => `Special interest group: ${topic}`,
  team: topic => `Develops and runs the ${topic} service`,
  commits: topic => `May commit to the ${topic} repositories`,
  wg: topic => `Plans the next version of the ${topic}`,
  maint: topic => `Maintains the ${topic} packages`,
  qa: topic => `Tests the ${topic} before each release`,
  docs: topic => `Writes the documentation of the ${topic}`,
  sponsors: topic => `Helps new contributors to the ${topic}`,
};

/** Number of users per group, and minimum number of groups. */
const PEOPLE_PER_GROUP = 60;
const FEWEST = 24;

/** Generates FAS groups: a few large ones and many small ones. */
export function randomGroups({
  faker,
  demo,
  people,
  taken,
}: {
  faker: Faker;
  /** Whether the descriptions are written for people. */
  demo: boolean;
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
    const { name, topic, kind } = uniqueName(faker, taken);
    const description = () =>
      demo ? KINDS[kind](topic) : `${name}: ${faker.company.buzzPhrase()}`;
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

function uniqueName(faker: Faker, taken: Set<string>) {
  const topic = faker.hacker.noun();
  const glue = faker.helpers.arrayElement(['-', '-', '-', '_', '.', '']);
  const kind = faker.helpers.arrayElement(Object.keys(KINDS));
  const word = topic.replace(/[^a-z]/gi, '');
  const wanted = `${word}${glue}${kind}`.toLowerCase();
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) {
    name = `${wanted}${count}`;
  }
  taken.add(name);
  return { name, topic, kind };
}
