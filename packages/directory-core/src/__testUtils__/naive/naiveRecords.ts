import type { Principal } from '../../directory/Principal';
import type { Group, User } from '../../directory/records';
import type { GroupField, UserField } from '../../directory/schema';
import type { DumpedEntry } from './DumpedEntry';

/**
 * LDAP attributes of user fields in freeipa-fas, independent of the schema
 * table.
 */
export const USER_ATTRIBUTES: Readonly<Record<UserField, string>> = {
  username: 'uid',
  surname: 'sn',
  givenname: 'givenname',
  human_name: 'displayname',
  emails: 'mail',
  ircnicks: 'fasircnick',
  locale: 'faslocale',
  timezone: 'fastimezone',
  gpgkeyids: 'fasgpgkeyid',
  sshpubkeys: 'ipasshpubkey',
  certificates: 'usercertificate;binary',
  creation: 'fascreationtime',
  is_private: 'fasisprivate',
  locked: 'nsaccountlock',
  github_username: 'fasgithubusername',
  gitlab_username: 'fasgitlabusername',
  pronouns: 'faspronoun',
  rhbzemail: 'fasrhbzemail',
  websites: 'faswebsiteurl',
  rssurls: 'fasrssurl',
};

/** LDAP attributes of group fields. */
export const GROUP_ATTRIBUTES: Readonly<Record<GroupField, string>> = {
  groupname: 'cn',
  description: 'description',
  mailing_list: 'fasmailinglist',
  url: 'fasurl',
  irc: 'fasircchannel',
  discussion_url: 'fasdiscussionurl',
};

/** Fields that are lists of strings. */
const LISTS: ReadonlySet<string> = new Set([
  ...['emails', 'ircnicks', 'gpgkeyids', 'sshpubkeys', 'pronouns', 'websites'],
  ...['rssurls', 'irc'],
]);

/** Object classes and attributes of served entries, by schema. */
export const NAIVE_SCHEMAS: Readonly<
  Record<
    'fas' | 'freeipa',
    {
      readonly userClass: string;
      readonly groupClass: string;
      readonly attributes: Partial<Record<UserField, string>>;
    }
  >
> = {
  fas: {
    userClass: 'fasUser',
    groupClass: 'fasGroup',
    attributes: USER_ATTRIBUTES,
  },
  freeipa: {
    userClass: 'posixAccount',
    groupClass: 'ipaUserGroup',
    attributes: withoutExtension(USER_ATTRIBUTES),
  },
};

function withoutExtension(
  attributes: Readonly<Record<UserField, string>>,
): Partial<Record<UserField, string>> {
  const own = Object.entries(attributes).filter(
    ([, attribute]) => !attribute.startsWith('fas'),
  );
  return { ...Object.fromEntries(own), creation: 'createtimestamp' };
}

/** Returns a user record with these fields. */
export function naiveUser(
  entry: DumpedEntry,
  fields: Iterable<UserField>,
  attributes: Partial<Record<UserField, string>> = USER_ATTRIBUTES,
): User {
  const values = [...fields].map(field => [
    field,
    valueOf(entry, field, attributes[field]),
  ]);
  return { ...Object.fromEntries(values), username: entry.text('uid')! };
}

/** Returns a group record with these fields. */
export function naiveGroup(
  entry: DumpedEntry,
  fields: Iterable<GroupField>,
): Group {
  const values = [...fields].map(field => [
    field,
    valueOf(entry, field, GROUP_ATTRIBUTES[field]),
  ]);
  return { ...Object.fromEntries(values), groupname: entry.text('cn')! };
}

function valueOf(
  entry: DumpedEntry,
  field: string,
  attribute: string | undefined,
): unknown {
  const text = attribute && entry.text(attribute);
  if (!attribute || text === undefined) {
    return undefined;
  }
  if (LISTS.has(field)) {
    return entry.texts(attribute);
  }
  switch (field) {
    case 'certificates':
      return entry.octets(attribute);
    case 'is_private':
    case 'locked':
      return text === 'TRUE';
    case 'creation':
      return new Date(naiveTime(text));
    default:
      return text;
  }
}

/** Converts a time such as `20200131235959Z` to milliseconds since 1970. */
export function naiveTime(text: string): number {
  return Date.parse(
    text.replace(
      /^(....)(..)(..)(..)(..)(..)Z$/,
      (_, year, month, day, hour, minute, second) =>
        `${year}-${month}-${day}T${hour}:${minute}:${second}Z`,
    ),
  );
}

/** Converts an entry to a principal. */
export function naivePrincipal(
  entry: DumpedEntry,
  options: {
    readonly isUser: boolean;
    readonly served: boolean;
    /** Direct and indirect groups. */
    readonly groups: readonly DumpedEntry[];
  },
): Principal {
  const { isUser, served, groups } = options;
  const canonicalName =
    entry.text('krbCanonicalName') ?? entry.text('krbPrincipalName');
  const service = isUser ? undefined : canonicalName?.split('@')[0];
  const expires = entry.text('krbPrincipalExpiration');
  const uniqueId = entry.text('ipaUniqueID');
  const kindOfMachine = service?.startsWith('host/') ? 'host' : 'service';
  return {
    dn: entry.dn,
    kind: isUser ? 'user' : kindOfMachine,
    username: isUser ? entry.text('uid') : undefined,
    service,
    stableId: uniqueId === undefined ? undefined : `ipaUniqueID=${uniqueId}`,
    served,
    principalNames: entry.texts('krbPrincipalName'),
    canonicalName,
    emails: entry.texts('mail'),
    locked: isLocked(entry),
    expires: expires === undefined ? undefined : new Date(naiveTime(expires)),
    groups: new Set(groups.map(group => group.text('cn')!.toLowerCase())),
  };
}

/** Returns whether an account is locked. */
export function isLocked(entry: DumpedEntry): boolean {
  return entry.text('nsAccountLock')?.toUpperCase() === 'TRUE';
}
