import type { SearchField } from './searchFields';

/** Fields that a filter can ask for: they have any value. */
export const PRESENCE_FIELDS = [
  'github_username',
  'gitlab_username',
  'website',
  'rssurl',
  'ircnick',
] as const satisfies readonly SearchField[];

/** A field that a filter asks for. */
export type PresenceField = (typeof PRESENCE_FIELDS)[number];

/** What narrows a list of people, whatever is typed. */
export interface PeopleFilters {
  /** Members of all these groups. */
  groups: readonly string[];

  /** Joined before this day, `2020-04-23`. */
  before: string | undefined;

  /** Have any value in all these fields. */
  has: readonly PresenceField[];
}

/** What the page of people is about: everything that its URL says. */
export interface PeopleQuestion extends PeopleFilters {
  /** What was typed. */
  text: string;

  /** Only the matches in this field, on pages. */
  only: SearchField | undefined;

  /** Whether to look into every field. */
  wide: boolean;

  /** Whether everybody is listed when nothing is asked for. */
  everybody: boolean;

  /** Counted from 1. */
  page: number;

  /** How people are shown. */
  view: 'cards' | 'table';
}

/** Whether a filter is set. */
export function isFiltered(filters: PeopleFilters): boolean {
  return Boolean(filters.groups.length || filters.before || filters.has.length);
}
