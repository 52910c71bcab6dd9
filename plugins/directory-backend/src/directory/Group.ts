import type { RecordOf } from './fieldValues';
import type { groupFields } from './schema';

/** A group as the directory holds it. */
export type Group = RecordOf<typeof groupFields> & {
  /** `cn`, in the directory's spelling. */
  readonly groupname: string;
};

/** As `emptyUser`, of a group. */
export function emptyGroup(): Record<keyof typeof groupFields, undefined> {
  return {
    groupname: undefined,
    description: undefined,
    mailing_list: undefined,
    url: undefined,
    irc: undefined,
    discussion_url: undefined,
  };
}
