/**
 * How a field is held by the directory and by a record.
 *
 * - `string`: the first value
 * - `strings`: every value, in the directory's order
 * - `boolean`: RFC 4517 Boolean (`TRUE`, `FALSE`)
 * - `timestamp`: RFC 4517 Generalized Time, a `Date` in a record
 * - `certificates`: DER, one `Buffer` a certificate
 */
export type FieldSyntax =
  | 'string'
  | 'strings'
  | 'boolean'
  | 'timestamp'
  | 'certificates';

/** One row of the attribute table. */
export interface FieldDefinition {
  /** The LDAP attribute, `undefined` when the directory has none for it. */
  readonly attribute?: string;
  readonly syntax: FieldSyntax;
  /** Whether a private profile hides it from everyone but its owner. */
  readonly hiddenByDefault?: boolean;
}

/**
 * The users' fields in the order of the contract, with the attributes of
 * FreeIPA and its extension freeipa-fas. This one table drives what is asked
 * of the directory, what is answered and what a private profile hides; a test
 * holds the OpenAPI document against it.
 */
export const userFields = {
  username: { attribute: 'uid', syntax: 'string' },
  surname: { attribute: 'sn', syntax: 'string', hiddenByDefault: true },
  givenname: {
    attribute: 'givenName',
    syntax: 'string',
    hiddenByDefault: true,
  },
  human_name: {
    attribute: 'displayName',
    syntax: 'string',
    hiddenByDefault: true,
  },
  emails: { attribute: 'mail', syntax: 'strings' },
  ircnicks: {
    attribute: 'fasIRCNick',
    syntax: 'strings',
    hiddenByDefault: true,
  },
  locale: { attribute: 'fasLocale', syntax: 'string', hiddenByDefault: true },
  timezone: {
    attribute: 'fasTimeZone',
    syntax: 'string',
    hiddenByDefault: true,
  },
  gpgkeyids: {
    attribute: 'fasGPGKeyId',
    syntax: 'strings',
    hiddenByDefault: true,
  },
  sshpubkeys: {
    attribute: 'ipaSshPubKey',
    syntax: 'strings',
    hiddenByDefault: true,
  },
  certificates: { attribute: 'userCertificate;binary', syntax: 'certificates' },
  creation: { attribute: 'fasCreationTime', syntax: 'timestamp' },
  is_private: { attribute: 'fasIsPrivate', syntax: 'boolean' },
  locked: { attribute: 'nsAccountLock', syntax: 'boolean' },
  github_username: {
    attribute: 'fasGitHubUsername',
    syntax: 'string',
    hiddenByDefault: true,
  },
  gitlab_username: {
    attribute: 'fasGitLabUsername',
    syntax: 'string',
    hiddenByDefault: true,
  },
  pronouns: {
    attribute: 'fasPronoun',
    syntax: 'strings',
    hiddenByDefault: true,
  },
  rhbzemail: { attribute: 'fasRHBZEmail', syntax: 'string' },
  websites: {
    attribute: 'fasWebsiteURL',
    syntax: 'strings',
    hiddenByDefault: true,
  },
  rssurls: { attribute: 'fasRssUrl', syntax: 'strings', hiddenByDefault: true },
} as const satisfies Record<string, FieldDefinition>;

/** The name of a user's field, as the contract spells it. */
export type UserField = keyof typeof userFields;

/** Every user field, in the order of the contract. */
export const userFieldNames = Object.keys(userFields) as readonly UserField[];

/** Whether a text names a user's field. */
export function isUserField(name: string): name is UserField {
  return Object.hasOwn(userFields, name);
}

/** The groups' fields in the order of the contract. */
export const groupFields = {
  groupname: { attribute: 'cn', syntax: 'string' },
  description: { attribute: 'description', syntax: 'string' },
  mailing_list: { attribute: 'fasMailingList', syntax: 'string' },
  url: { attribute: 'fasURL', syntax: 'string' },
  irc: { attribute: 'fasIRCChannel', syntax: 'strings' },
  discussion_url: { attribute: 'fasDiscussionURL', syntax: 'string' },
} as const satisfies Record<string, FieldDefinition>;

/** The name of a group's field, as the contract spells it. */
export type GroupField = keyof typeof groupFields;

/** Every group field, in the order of the contract. */
export const groupFieldNames = Object.keys(
  groupFields,
) as readonly GroupField[];

/** Whether a text names a group's field. */
export function isGroupField(name: string): name is GroupField {
  return Object.hasOwn(groupFields, name);
}

/** Which preset of the attribute table a directory follows. */
export type SchemaPreset = 'fas' | 'freeipa';

/** The attribute table as one site has it. */
export interface DirectorySchema {
  /** The object class that makes an entry a user of the API. */
  readonly userClass: string;
  /** The object class that makes an entry a group of the API. */
  readonly groupClass: string;
  readonly users: Readonly<Record<UserField, FieldDefinition>>;
  readonly groups: Readonly<Record<GroupField, FieldDefinition>>;
  /** Whether the directory has freeipa-fas's agreements. */
  readonly hasAgreements: boolean;
}

/**
 * The attribute table of a preset: `fas` for FreeIPA with freeipa-fas,
 * `freeipa` for FreeIPA alone, where the extension's fields are always null.
 */
export function schemaPreset(preset: SchemaPreset): DirectorySchema {
  if (preset === 'fas') {
    return {
      userClass: 'fasUser',
      groupClass: 'fasGroup',
      users: userFields,
      groups: groupFields,
      hasAgreements: true,
    };
  }
  const users = withoutExtension<UserField>(userFields);
  return {
    userClass: 'posixAccount',
    groupClass: 'ipaUserGroup',
    users: {
      ...users,
      creation: { ...users.creation, attribute: 'createTimestamp' },
    },
    groups: withoutExtension<GroupField>(groupFields),
    hasAgreements: false,
  };
}

function withoutExtension<F extends string>(
  fields: Readonly<Record<F, FieldDefinition>>,
): Record<F, FieldDefinition> {
  const entries = Object.entries<FieldDefinition>(fields).map(
    ([name, field]) => [
      name,
      field.attribute?.startsWith('fas')
        ? { ...field, attribute: undefined }
        : field,
    ],
  );
  return Object.fromEntries(entries) as Record<F, FieldDefinition>;
}
