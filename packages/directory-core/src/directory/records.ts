import type {
  FieldDefinition,
  FieldSyntax,
  groupFields,
  userFields,
} from './schema';

/** A user of the directory. */
export type User = RecordOf<typeof userFields> & {
  /** `uid`, in the directory's spelling. */
  readonly username: string;
};

/**
 * A user without values, to be filled. V8 gives all objects of one literal the
 * same hidden class. When records were built field by field, 8,000 of 20,000
 * users had separate hidden classes, which made reading fields slow.
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

/** A group of the directory. */
export type Group = RecordOf<typeof groupFields> & {
  /** `cn`, in the directory's spelling. */
  readonly groupname: string;
};

/** Like `emptyUser`, for a group. */
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

interface ValueOfSyntax extends Record<FieldSyntax, unknown> {
  string: string;
  strings: readonly string[];
  boolean: boolean;
  timestamp: Date;
  certificates: readonly Buffer[];
}

/**
 * A record with the fields of a table. A field that was not requested, has no
 * value or is hidden from the caller is `undefined`.
 */
type RecordOf<Fields extends Record<string, FieldDefinition>> = {
  readonly [F in keyof Fields]?: ValueOfSyntax[Fields[F]['syntax']];
};
