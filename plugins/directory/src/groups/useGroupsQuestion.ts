import {
  type Ask,
  readPage,
  useQuestion,
  writePage,
} from '../page/useUrlQuery';

/** What the page of groups is about: everything that its URL says. */
export interface GroupsQuestion {
  /** What was typed. */
  text: string;

  /** Counted from 1. */
  page: number;
}

/** Asks for other groups. */
export type AskGroups = Ask<GroupsQuestion>;

const format = {
  read: (params: URLSearchParams): GroupsQuestion => ({
    text: params.get('q') ?? '',
    page: readPage(params),
  }),
  write: ({ text, page }: GroupsQuestion) => ({
    q: text || undefined,
    page: writePage(page),
  }),
};

/** The question that the URL asks, and a function that changes it. */
export function useGroupsQuestion(): [GroupsQuestion, AskGroups] {
  return useQuestion<GroupsQuestion>(format);
}
