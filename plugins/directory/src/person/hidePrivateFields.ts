import type { User } from '@directory-gateway/backstage-plugin-directory-common';

/** What a private profile hides unless a site configures another list. */
const HIDDEN = {
  human_name: null,
  surname: null,
  givenname: null,
  ircnicks: null,
  locale: null,
  timezone: null,
  gpgkeyids: null,
  sshpubkeys: null,
  github_username: null,
  gitlab_username: null,
  pronouns: null,
  websites: null,
  rssurls: null,
} satisfies Partial<User>;

/** A person as others see them. */
export function hidePrivateFields(person: User): User {
  return person.is_private ? { ...person, ...HIDDEN } : person;
}
