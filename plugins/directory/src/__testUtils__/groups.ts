import type { ListedGroup } from '../groups/useGroups';

/** A group without optional attributes. */
export function group(
  given: Partial<ListedGroup> & { groupname: string },
): ListedGroup {
  return {
    description: null,
    mailing_list: null,
    url: null,
    irc: null,
    discussion_url: null,
    member_count: 0,
    ...given,
  };
}
