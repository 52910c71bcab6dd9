import type { MaskedUser } from '@directory-gateway/backstage-plugin-directory-common';

/** A term of `/search/users/` that stands for a field of a person. */
export type SearchField =
  | 'username'
  | 'human_name'
  | 'email'
  | 'ircnick'
  | 'github_username'
  | 'gitlab_username'
  | 'givenname'
  | 'surname'
  | 'rhbzemail'
  | 'website'
  | 'rssurl';

/** What is asked about everybody in a list of people. */
export const PERSON_FIELDS = [
  'username',
  'human_name',
  'givenname',
  'surname',
  'emails',
  'ircnicks',
  'timezone',
  'creation',
  'is_private',
  'locked',
  'github_username',
  'gitlab_username',
  'pronouns',
  'rhbzemail',
  'websites',
  'rssurls',
] as const;

/** Somebody in a list of people. */
export type FoundPerson = Required<
  Pick<MaskedUser, (typeof PERSON_FIELDS)[number]>
>;

/** The values of a person that a search in a field looks at. */
export function valuesOf(person: FoundPerson, field: SearchField): string[] {
  const values = {
    username: [person.username],
    human_name: [person.human_name],
    email: person.emails,
    ircnick: person.ircnicks,
    github_username: [person.github_username],
    gitlab_username: [person.gitlab_username],
    givenname: [person.givenname],
    surname: [person.surname],
    rhbzemail: [person.rhbzemail],
    website: person.websites,
    rssurl: person.rssurls,
  }[field];
  return (values ?? []).filter(value => value !== null);
}
