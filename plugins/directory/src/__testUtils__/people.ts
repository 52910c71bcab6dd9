import type { User } from '@directory-gateway/backstage-plugin-directory-common';

/** A user without optional attributes. */
export function person(given: Partial<User> & { username: string }): User {
  return {
    surname: null,
    givenname: null,
    human_name: null,
    emails: null,
    ircnicks: null,
    locale: null,
    timezone: null,
    gpgkeyids: null,
    sshpubkeys: null,
    certificates: null,
    creation: '2015-06-07T08:09:10',
    is_private: false,
    locked: false,
    github_username: null,
    gitlab_username: null,
    pronouns: null,
    rhbzemail: null,
    websites: null,
    rssurls: null,
    uri: `http://localhost:7007/api/directory/v1/users/${given.username}/`,
    ...given,
  };
}

/** URL that users can store but that must not become a link. */
// eslint-disable-next-line no-script-url
export const SCRIPT_URL = 'javascript:alert(1)';

/** A user with a public profile. */
export const karl = person({
  username: 'karl',
  human_name: 'Karl Larsson',
  givenname: 'Karl',
  surname: 'Larsson',
  emails: ['karl@example.test'],
  ircnicks: ['irc://irc.libera.chat/karlp', 'matrix://example.test/karl'],
  timezone: 'Asia/Kolkata',
  github_username: 'karlp',
  pronouns: ['he/him'],
  websites: ['https://karl.example.test/', SCRIPT_URL],
  sshpubkeys: [
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBNk9dhxew1YA8qNmqajt0N/9Z/OY5EfC9Czz7pm3px1 karl@laptop',
  ],
  gpgkeyids: ['0123456789ABCDEF'],
});
