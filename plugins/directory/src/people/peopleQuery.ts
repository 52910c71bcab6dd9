import type { MaskedUser } from '@directory-gateway/backstage-plugin-directory-common';
import {
  type Ask,
  readPage,
  useQuestion,
  writePage,
} from '../page/useUrlQuery';

/** Fields that a filter can require to have a value. */
export const PRESENCE_FIELDS = [
  'github_username',
  'gitlab_username',
  'website',
  'rssurl',
  'ircnick',
] as const satisfies readonly SearchField[];

/** A field that a filter can require. */
export type PresenceField = (typeof PRESENCE_FIELDS)[number];

/** Filters of a list of users, besides the searched text. */
export interface PeopleFilters {
  /** Members of all these groups. */
  groups: readonly string[];

  /** Joined before this day, `2020-04-23`. */
  before: string | undefined;

  /** Have any value in all these fields. */
  has: readonly PresenceField[];
}

/** The query of the page, as in its URL. */
export interface PeopleQuestion extends PeopleFilters {
  /** Searched text. */
  text: string;

  /** Limits the results to the matches in this field, on pages. */
  only: SearchField | undefined;

  /** Whether to search all fields. */
  wide: boolean;

  /** Whether to list all users when there is no text and no filter. */
  everybody: boolean;

  /** Counted from 1. */
  page: number;

  /** Layout of the results. */
  view: 'cards' | 'table';
}

/** Whether a filter is set. */
export function isFiltered(filters: PeopleFilters): boolean {
  return Boolean(filters.groups.length || filters.before || filters.has.length);
}

/** Changes the query. */
export type AskPeople = Ask<PeopleQuestion>;

const format = {
  read(params: URLSearchParams): PeopleQuestion {
    const has = params.getAll('has');
    const before = params.get('before');
    return {
      text: params.get('q') ?? '',
      groups: params.getAll('group'),
      before: before && /^\d{4}-\d\d-\d\d$/.test(before) ? before : undefined,
      has: PRESENCE_FIELDS.filter(field => has.includes(field)),
      only: (params.get('in') as SearchField | null) ?? undefined,
      wide: params.has('wide'),
      everybody: params.has('everybody'),
      page: readPage(params),
      view: params.get('view') === 'table' ? 'table' : 'cards',
    };
  },
  write: (question: PeopleQuestion) => ({
    q: question.text || undefined,
    group: question.groups,
    before: question.before,
    has: question.has,
    in: question.only,
    wide: question.wide ? '' : undefined,
    everybody: question.everybody ? '' : undefined,
    page: writePage(question.page),
    view: question.view === 'table' ? question.view : undefined,
  }),
};

/** Returns the query in the URL and a function that changes it. */
export function usePeopleQuestion(): [PeopleQuestion, AskPeople] {
  return useQuestion<PeopleQuestion>(format);
}

/** A parameter of `/search/users/` that is a field of a user. */
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

/** Fields of each user in a list. */
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
>;

/** Returns the values of a user that a search in a field compares. */
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
