import type { RecordOf } from './fieldValues';
import type { groupFields } from './schema';

/** A group as the directory holds it. */
export type Group = RecordOf<typeof groupFields> & {
  /** `cn`, in the directory's spelling. */
  readonly groupname: string;
};
