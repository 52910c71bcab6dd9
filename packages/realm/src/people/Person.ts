import { PEOPLE_DN } from '../directory/baseTree';
import {
  LdifEntry,
  escapeRdnValue,
  type LdifAttributes,
} from '../ldif/LdifEntry';
import { REALM } from '../RealmLayout';
import type { Faker } from '@faker-js/faker';

/** A user account, before it becomes an LDAP entry. */
export interface Person {
  uid: string;
  givenName: string;
  surname: string;
  /** Full name. */
  displayName?: string;
  mails: readonly string[];
  sshKeys: readonly string[];
  /** DER. */
  certificates: readonly Buffer[];
  created: Date;
  locked?: boolean;
  /** Expiration of the Kerberos principal. */
  expires?: Date;
  /** Principal names in addition to `uid@REALM`, without the realm. */
  aliases: readonly string[];
  /** `undefined`: an account outside the Fedora Account System. */
  fas?: FasProfile;
}

/** Attributes of the Fedora Account System. */
export interface FasProfile {
  timezone?: string;
  locale?: string;
  /** `irc:` and `matrix:` URIs. */
  nicks: readonly string[];
  gpgKeyIds: readonly string[];
  rhbzEmail?: string;
  github?: string;
  gitlab?: string;
  websites: readonly string[];
  rssUrls: readonly string[];
  pronouns: readonly string[];
  /** `undefined`: public. */
  isPrivate?: boolean;
}

/** A profile without values. */
export const EMPTY_PROFILE: FasProfile = {
  nicks: [],
  gpgKeyIds: [],
  websites: [],
  rssUrls: [],
  pronouns: [],
};

/** Numbers and IDs of an account. */
interface AccountIds {
  number: number;
  uniqueId: string;
}

/** Returns the DN of a user. */
export function personDn(uid: string): string {
  return `uid=${escapeRdnValue(uid)},${PEOPLE_DN}`;
}

/** Returns the entry of a user with FreeIPA's object classes. */
export function personEntry(person: Person, ids: AccountIds): LdifEntry {
  const { uid, givenName, surname, displayName } = person;
  const name = displayName ?? `${givenName} ${surname}`;
  return new LdifEntry(personDn(uid), {
    objectClass: [
      ...['top', 'person', 'organizationalperson', 'inetorgperson'],
      ...['inetuser', 'posixaccount', 'krbprincipalaux', 'krbticketpolicyaux'],
      ...['ipaobject', 'ipasshuser', 'ipaSshGroupOfPubKeys'],
      ...(person.fas ? ['fasuser'] : []),
    ],
    uid,
    cn: name,
    sn: surname,
    givenName,
    displayName,
    initials: [givenName, surname].map(part => [...part][0]).join(''),
    gecos: ascii(name),
    homeDirectory: `/home/${ascii(uid) || 'user'}`,
    loginShell: '/bin/bash',
    uidNumber: String(ids.number),
    gidNumber: String(ids.number),
    mail: person.mails,
    krbPrincipalName: [uid, ...person.aliases].map(
      alias => `${alias}@${REALM}`,
    ),
    krbCanonicalName: `${uid}@${REALM}`,
    krbPrincipalExpiration: generalizedTime(person.expires),
    ipaUniqueID: ids.uniqueId,
    nsAccountLock: booleanText(person.locked),
    ipaSshPubKey: person.sshKeys,
    'userCertificate;binary': person.certificates,
    createTimestamp: generalizedTime(person.created),
    ...(person.fas && fasAttributes(person.fas, person.created)),
  });
}

function fasAttributes(profile: FasProfile, created: Date): LdifAttributes {
  return {
    fasIsPrivate: booleanText(profile.isPrivate),
    fasIRCNick: profile.nicks,
    fasGPGKeyId: profile.gpgKeyIds,
    fasTimezone: profile.timezone,
    fasLocale: profile.locale,
    fasCreationTime: generalizedTime(created),
    fasGitHubUsername: profile.github,
    fasGitLabUsername: profile.gitlab,
    fasPronoun: profile.pronouns,
    fasRHBZEmail: profile.rhbzEmail,
    fasWebsiteUrl: profile.websites,
    fasRssUrl: profile.rssUrls,
  };
}

function booleanText(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value).toUpperCase();
}

/** GeneralizedTime in UTC, whole seconds (RFC 4517 §3.3.13). */
function generalizedTime(date: Date | undefined): string | undefined {
  return date?.toISOString().replace(/[-:T]|\.\d+/g, '');
}

/** Removes diacritics and non-ASCII characters: gecos is IA5. */
function ascii(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/[^\x20-\x7e]/g, '')
      .trim() || 'user'
  );
}

/** Forms of user names, with their frequency. */
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
 * Returns a unique user name of letters that a Kerberos principal can have.
 *
 * @param taken - user names in lower case; the new one is added
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
