import type { GroupField, UserField } from '../../directory/schema';

/** Where freeipa-fas keeps the users' fields; written down a second time. */
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

/** As {@link USER_ATTRIBUTES}, of the groups. */
export const GROUP_ATTRIBUTES: Readonly<Record<GroupField, string>> = {
  groupname: 'cn',
  description: 'description',
  mailing_list: 'fasmailinglist',
  url: 'fasurl',
  irc: 'fasircchannel',
  discussion_url: 'fasdiscussionurl',
};

/** The fields that are lists of text. */
export const LISTS: ReadonlySet<string> = new Set([
  ...['emails', 'ircnicks', 'gpgkeyids', 'sshpubkeys', 'pronouns', 'websites'],
  ...['rssurls', 'irc'],
]);

/** Which entries are served, and with which attributes. */
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
