import type { MaskedUser } from '@directory-gateway/backstage-plugin-directory-common';
import { readPage, type SetQuery, useUrlQuery } from '../page/useUrlQuery';

/** Fields that a filter can require to be present. */
export const PRESENCE_FIELDS = [
  'github_username',
  'gitlab_username',
  'website',
  'rssurl',
  'ircnick',
] as const satisfies readonly MatchedField[];

/** A field that a filter can require. */
export type PresenceField = (typeof PRESENCE_FIELDS)[number];

/** Filters of a list of users, in addition to the search text. */
export interface PeopleFilters {
  /** Groups of which the users must all be members. */
  group: readonly string[];

  /** Date before which the users joined, such as `2020-04-23`. */
  before: string | undefined;

  /** Date on or after which the users joined. */
  since: string | undefined;

  /** Fields that must have a value. */
  has: readonly PresenceField[];
}

/** The people query, as in the URL parameters. */
export interface PeopleQuery extends PeopleFilters {
  q: string;

  /** Whether to list all users when there is no search text and no filter. */
  all: boolean;

  /** Page number, starting at 1. */
  page: number;
}

/** Value without filters. */
export const NO_FILTERS: PeopleFilters = {
  group: [],
  before: undefined,
  since: undefined,
  has: [],
};

/** Whether a filter is set. */
export function isFiltered(filters: PeopleFilters): boolean {
  const { group, before, since, has } = filters;
  return Boolean(group.length || before || since || has.length);
}

export type SetPeopleQuery = SetQuery<PeopleQuery>;

function readQuery(params: URLSearchParams): PeopleQuery {
  const has = params.getAll('has');
  return {
    q: params.get('q') ?? '',
    group: params.getAll('group'),
    before: readDate(params.get('before')),
    since: readDate(params.get('since')),
    has: PRESENCE_FIELDS.filter(field => has.includes(field)),
    all: params.has('all'),
    page: readPage(params),
  };
}

function readDate(text: string | null): string | undefined {
  return text && /^\d{4}-\d\d-\d\d$/.test(text) ? text : undefined;
}

/** Returns the query in the URL and a function that changes it. */
export function usePeopleQuery(): [PeopleQuery, SetPeopleQuery] {
  return useUrlQuery(readQuery);
}

/** Searched fields other than the user name and the full name. */
export const MATCHED_FIELDS = [
  'ircnick',
  'github_username',
  'gitlab_username',
  'email',
  'rhbzemail',
  'givenname',
  'surname',
  'website',
  'rssurl',
] as const;

/** One of {@link MATCHED_FIELDS}. */
export type MatchedField = (typeof MATCHED_FIELDS)[number];

/** Queried fields of a user in a list. */
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

/** A user in a list. */
export type FoundPerson = Required<
  Pick<MaskedUser, (typeof PERSON_FIELDS)[number]>
> & {
  /** Whether the list shows group members: a locked account has no access. */
  inGroup?: boolean;
};

/** Returns the values of a field of a user. */
export function valuesOf(person: FoundPerson, field: MatchedField): string[] {
  const values = {
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
