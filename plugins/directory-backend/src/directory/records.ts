import type { RecordOf } from './fieldValues';
import type { userFields } from './schema';

/** A user as the directory holds it. */
export type User = RecordOf<typeof userFields> & {
  /** `uid`, in the directory's spelling. */
  readonly username: string;
};

/**
 * A user without a value, to be filled: what every record of a user begins as.
 * V8 gives all objects of one literal the same hidden class. When they were
 * made field by field, 8,000 of 20,000 copied users had one for each alone, and
 * every look at a field of theirs missed V8's caches.
 */
export function emptyUser(): Record<keyof typeof userFields, undefined> {
  return {
    username: undefined,
    surname: undefined,
    givenname: undefined,
    human_name: undefined,
    emails: undefined,
    ircnicks: undefined,
    locale: undefined,
    timezone: undefined,
    gpgkeyids: undefined,
    sshpubkeys: undefined,
    certificates: undefined,
    creation: undefined,
    is_private: undefined,
    locked: undefined,
    github_username: undefined,
    gitlab_username: undefined,
    pronouns: undefined,
    rhbzemail: undefined,
    websites: undefined,
    rssurls: undefined,
  };
}
