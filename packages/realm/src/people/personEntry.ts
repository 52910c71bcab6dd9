import { PEOPLE_DN } from '../directory/baseTree';
import { escapeRdnValue } from '../ldif/escapeRdnValue';
import { LdifEntry, type LdifValue } from '../ldif/LdifEntry';
import { REALM } from '../RealmLayout';
import type { FasProfile, Person } from './Person';

/** What numbers and ids an account gets. */
export interface AccountIds {
  number: number;
  uniqueId: string;
}

/** The DN of a person of this name. */
export function personDn(uid: string): string {
  return `uid=${escapeRdnValue(uid)},${PEOPLE_DN}`;
}

/** A person as FreeIPA keeps it, with the object classes FreeIPA gives. */
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
    ...given('displayName', displayName),
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
    ...given('krbPrincipalExpiration', generalizedTime(person.expires)),
    ipaUniqueID: ids.uniqueId,
    ...given('nsAccountLock', booleanText(person.locked)),
    ipaSshPubKey: person.sshKeys,
    'userCertificate;binary': person.certificates,
    createTimestamp: generalizedTime(person.created) ?? [],
    ...(person.fas && fasAttributes(person.fas, person.created)),
  });
}

function fasAttributes(
  profile: FasProfile,
  created: Date,
): Record<string, string | readonly string[]> {
  return {
    ...given('fasIsPrivate', booleanText(profile.isPrivate)),
    fasIRCNick: profile.nicks,
    fasGPGKeyId: profile.gpgKeyIds,
    ...given('fasTimezone', profile.timezone),
    ...given('fasLocale', profile.locale),
    ...given('fasCreationTime', generalizedTime(created)),
    ...given('fasGitHubUsername', profile.github),
    ...given('fasGitLabUsername', profile.gitlab),
    fasPronoun: profile.pronouns,
    ...given('fasRHBZEmail', profile.rhbzEmail),
    fasWebsiteUrl: profile.websites,
    fasRssUrl: profile.rssUrls,
  };
}

function given(
  name: string,
  value: string | undefined,
): Record<string, LdifValue> {
  return value === undefined ? {} : { [name]: value };
}

function booleanText(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value).toUpperCase();
}

/** GeneralizedTime in UTC, whole seconds (RFC 4517 §3.3.13). */
function generalizedTime(date: Date | undefined): string | undefined {
  return date?.toISOString().replace(/[-:T]|\.\d+/g, '');
}

/** Letters without their marks, nothing else beyond ASCII: gecos is IA5. */
function ascii(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/[^\x20-\x7e]/g, '')
      .trim() || 'user'
  );
}
