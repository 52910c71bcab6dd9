import {
  type Ask,
  readPage,
  useQuestion,
  writePage,
} from '../../page/useUrlQuery';

/** How somebody is a member. */
export const MEMBERSHIPS = ['all', 'direct', 'indirect'] as const;

/** Which members are listed, and how: everything that the URL says. */
export interface MembersQuestion {
  /** What was typed. */
  text: string;

  membership: (typeof MEMBERSHIPS)[number];

  /** Counted from 1. */
  page: number;

  view: 'cards' | 'table';
}

/** Asks for other members. */
export type AskMembers = Ask<MembersQuestion>;

const format = {
  read(params: URLSearchParams): MembersQuestion {
    const membership = params.get('membership');
    return {
      text: params.get('q') ?? '',
      membership: MEMBERSHIPS.find(one => one === membership) ?? 'all',
      page: readPage(params),
      view: params.get('view') === 'table' ? 'table' : 'cards',
    };
  },
  write: ({ text, membership, page, view }: MembersQuestion) => ({
    q: text || undefined,
    membership: membership === 'all' ? undefined : membership,
    page: writePage(page),
    view: view === 'table' ? view : undefined,
  }),
};

/** The question that a group's URL asks, and a function that changes it. */
export function useMembersQuestion(): [MembersQuestion, AskMembers] {
  return useQuestion<MembersQuestion>(format);
}
