import type { Faker } from '@faker-js/faker';
import { groupDn, type Group } from './Group';
import { personDn } from './Person';

const ALICE = personDn('alice');
const BOB = personDn('bob');
const CAROL = personDn('carol');
const ADMIN = personDn('admin');

interface KnownGroupOptions {
  faker: Faker;
  /** Whether the descriptions and links are written for people. */
  demo: boolean;
  /** DNs of all users. */
  everybody: readonly string[];
  /** DNs of FAS users. */
  people: readonly string[];
  /** DN of a service that is a member of a group. */
  service: string;
}

/**
 * Returns the groups that tests use: FreeIPA's groups, large and small ones,
 * three levels of nesting, nesting and sponsors through a group outside the
 * Fedora Account System, names with spaces.
 */
export function knownGroups(options: KnownGroupOptions): Group[] {
  const { faker, demo, everybody, people, service } = options;
  const some = (share: number, ...always: string[]) => {
    const count = Math.ceil(share * people.length);
    return [
      ...new Set([
        ...always,
        ...faker.helpers.arrayElements([...people], count),
      ]),
    ];
  };
  const groups = [
    outside('ipausers', 'Default group for all users', everybody, false),
    outside('admins', 'Account administrators group', [ADMIN], true),
    outside('editors', 'Limited admins who can edit other users', [], true),
    outside('trust admins', 'Trusts administrators group', [ADMIN], false),
    inside('contributors', some(0.9, ALICE, BOB, CAROL)),
    inside(
      'packager',
      some(
        0.05,
        ALICE,
        BOB,
        CAROL,
        personDn('minimal'),
        groupDn('provenpackager'),
      ),
      [ALICE, BOB, CAROL],
    ),
    inside('provenpackager', some(0.01, personDn('dave'), groupDn('rel-eng')), [
      ALICE,
    ]),
    inside('rel-eng', some(0.004, personDn('erin'))),
    inside('infra', some(0.006, ALICE, groupDn('infra-internal')), [
      groupDn('infra-internal'),
    ]),
    outside(
      'infra-internal',
      'Not a FAS group',
      [personDn('nofas'), groupDn('sysadmin_main')],
      false,
    ),
    inside(
      'sysadmin_main',
      some(0.002, personDn('mallory'), personDn('john.doe')),
    ),
    inside('design', some(0.01, ALICE, BOB), [BOB, groupDn('packager')]),
    inside('design team', some(0.005, ALICE), [ALICE]),
    inside(
      'python-sig',
      some(0.03, personDn('CamelCase'), personDn('plus+user')),
      [personDn('dave')],
    ),
    inside('go.sig', some(0.01), [personDn('nofas')]),
    inside('bots', [service]),
    { ...inside('unsung', []), description: undefined, fas: { channels: [] } },
  ];
  return demo ? groups.map(forPeople) : groups;
}

/** Descriptions of FAS groups in the demo, by name. */
const DESCRIPTIONS: Partial<Record<string, string>> = {
  contributors: 'Everyone who has signed the contributor agreement',
  packager: 'Maintains packages of the distribution',
  provenpackager: 'Experienced packagers, who may change every package',
  'rel-eng': 'Builds and publishes the releases',
  infra: 'Runs the servers and services of the project',
  sysadmin_main: 'Administrators with access to all servers',
  design: 'Artwork, user interfaces and the websites',
  'design team': 'Core members of the design group',
  'python-sig': 'Special interest group for Python',
  'go.sig': 'Special interest group for Go',
  bots: 'Accounts of automated services',
};

/** Replaces the description and the link of a FAS group by those of the demo. */
function forPeople(group: Group): Group {
  const { name, fas } = group;
  return {
    ...group,
    description: DESCRIPTIONS[name] ?? group.description,
    fas: fas?.url ? { ...fas, url: fas.url.replace(/\?.*/, '') } : fas,
  };
}

function outside(
  name: string,
  description: string,
  members: readonly string[],
  posix: boolean,
): Group {
  return { name, description, members, sponsors: [], posix };
}

function inside(
  name: string,
  members: readonly string[],
  sponsors: readonly string[] = [],
): Group {
  const slug = name.replace(' ', '-');
  return {
    name,
    description: `${name}: people (and *friends*), \\o/ é`,
    members,
    sponsors,
    posix: true,
    fas: {
      url: `https://example.test/${slug}?a=(b)&c=*`,
      mailingList: `${slug}@lists.example.test`,
      channels: [`irc:///#${slug}`, `matrix://example.test/#${slug}`],
      discussionUrl: `https://discuss.example.test/${slug}`,
    },
  };
}
