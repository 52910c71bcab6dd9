import type { RecordOf } from './fieldValues';
import type { userFields } from './schema';

/** A user as the directory holds it. */
export type User = RecordOf<typeof userFields> & {
  /** `uid`, in the directory's spelling. */
  readonly username: string;
};
