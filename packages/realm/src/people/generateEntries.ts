import { Faker, base, en } from '@faker-js/faker';
import { LdifEntry } from '../ldif/LdifEntry';
import { agreements, groupEntry } from './Group';
import { knownGroups } from './knownGroups';
import { knownPeople } from './knownPeople';
import { personDn, personEntry } from './Person';
import { RandomPeople } from './RandomPeople';
import { randomGroups } from './randomGroups';
import { HOSTS_DN, SERVICES_DN } from '../directory/baseTree';
import { REALM } from '../RealmLayout';

/** A service that is a client of the gateway. */
const BOT_SERVICE = 'bot/builder.example.test';

export interface GenerateOptions {
  /** Number of FAS users, including those with fixed names. */
  users: number;
  seed: number;
  /** `freeipa`: without the Fedora Account System. */
  schema: 'fas' | 'freeipa';
  /** Whether the descriptions and links of groups are written for people. */
  demo: boolean;
}

const FIRST_USER_NUMBER = 1_000_001;

const FIRST_GROUP_NUMBER = 500_001;

/**
 * Generates users, groups, services, hosts and agreements, without `memberOf`.
 * The same options result in the same entries.
 */
export function generateEntries({
  users,
  seed,
  schema,
  demo,
}: GenerateOptions): LdifEntry[] {
  const faker = new Faker({ locale: [en, base], seed });
  const known = knownPeople();
  const taken = new Set(known.map(person => person.uid.toLowerCase()));
  const random = new RandomPeople(seed, taken);
  const missing = users - known.filter(person => person.fas).length;
  const everyone = [
    ...known,
    ...Array.from({ length: Math.max(0, missing) }, () => random.next()),
  ];
  const people = everyone
    .filter(({ fas }) => fas)
    .map(({ uid }) => personDn(uid));
  const groups = knownGroups({
    faker,
    demo,
    everybody: everyone.map(({ uid }) => personDn(uid)),
    people,
    service: serviceDn(BOT_SERVICE),
  });
  const groupNames = new Set(groups.map(group => group.name.toLowerCase()));
  groups.push(...randomGroups({ faker, demo, people, taken: groupNames }));
  const entries = [
    ...everyone.map((person, index) =>
      personEntry(person, {
        number: FIRST_USER_NUMBER + index,
        uniqueId: faker.string.uuid(),
      }),
    ),
    ...groups.map((group, index) =>
      groupEntry(group, {
        number: FIRST_GROUP_NUMBER + index,
        uniqueId: faker.string.uuid(),
      }),
    ),
    ...machines(faker),
  ];
  return schema === 'fas'
    ? [...entries, ...agreements(faker, people)]
    : entries.map(withoutFas);
}

function withoutFas(entry: LdifEntry): LdifEntry {
  const bare = new LdifEntry(entry.dn);
  for (const [name, values] of entry) {
    if (name === 'objectClass') {
      const others = values.filter(value => !/^fas/i.test(String(value)));
      bare.add(name, ...others);
    } else if (!/^fas/i.test(name)) {
      bare.add(name, ...values);
    }
  }
  return bare;
}

const BOT_HOST = 'build1.example.test';

/** Returns the DN of a service. */
function serviceDn(principal: string): string {
  return `krbprincipalname=${principal}@${REALM},${SERVICES_DN}`;
}

/** Returns the services of the gateway, the directory and a bot, and a host. */
function machines(faker: Faker): LdifEntry[] {
  return [
    ...['HTTP/localhost', 'ldap/localhost', BOT_SERVICE].map(principal =>
      serviceEntry(principal, faker.string.uuid()),
    ),
    new LdifEntry(`fqdn=${BOT_HOST},${HOSTS_DN}`, {
      objectClass: [
        ...['top', 'device', 'ipaobject', 'ipahost', 'krbprincipalaux'],
        ...['ipasshhost', 'pkiuser'],
      ],
      cn: BOT_HOST,
      fqdn: BOT_HOST,
      krbPrincipalName: `host/${BOT_HOST}@${REALM}`,
      krbCanonicalName: `host/${BOT_HOST}@${REALM}`,
      ipaUniqueID: faker.string.uuid(),
    }),
  ];
}

function serviceEntry(principal: string, uniqueId: string): LdifEntry {
  return new LdifEntry(serviceDn(principal), {
    objectClass: [
      ...['top', 'ipaobject', 'ipaservice', 'krbprincipal', 'krbprincipalaux'],
      'pkiuser',
    ],
    krbPrincipalName: `${principal}@${REALM}`,
    krbCanonicalName: `${principal}@${REALM}`,
    ipaUniqueID: uniqueId,
  });
}
