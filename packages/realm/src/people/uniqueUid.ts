import type { Faker } from '@faker-js/faker';

/** How a name becomes a login, and how often. */
const STYLES: readonly {
  weight: number;
  value: (first: string, last: string) => string;
}[] = [
  { weight: 30, value: (first, last) => first.slice(0, 1) + last },
  { weight: 20, value: (first, last) => `${first}.${last}` },
  { weight: 12, value: (first, last) => `${first}_${last}` },
  { weight: 10, value: (first, last) => `${first}-${last}` },
  { weight: 10, value: first => first },
  { weight: 8, value: (first, last) => last.slice(0, 6) + first.slice(0, 3) },
  {
    weight: 6,
    value: (first, last) => `${first}${last.length}${last.slice(0, 1)}`,
  },
  { weight: 3, value: (first, last) => capitalize(first) + capitalize(last) },
  { weight: 0.5, value: first => `_${first}` },
  { weight: 0.5, value: (_first, last) => `${last}$` },
];

/**
 * A login nobody has yet, of the letters a Kerberos principal can carry.
 *
 * @param taken - logins in lower case, since LDAP compares them so; the new
 * one is added
 */
export function uniqueUid(
  faker: Faker,
  givenName: string,
  surname: string,
  taken: Set<string>,
): string {
  const first = letters(givenName) || letters(faker.person.firstName());
  const last = letters(surname) || letters(faker.person.lastName());
  const wanted = faker.helpers.weightedArrayElement([...STYLES])(first, last);
  let uid = wanted;
  for (let count = 2; taken.has(uid.toLowerCase()); count += 1) {
    uid = wanted.endsWith('$')
      ? `${wanted.slice(0, -1)}${count}$`
      : `${wanted}${count}`;
  }
  taken.add(uid.toLowerCase());
  return uid;
}

function letters(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .slice(0, 20);
}

function capitalize(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
