import type { GroupDetails } from '../group/About';

/** A group without optional attributes. */
export function aGroup(
  given: Partial<GroupDetails> & { groupname: string },
): GroupDetails {
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
