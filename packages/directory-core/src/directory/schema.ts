/**
 * Representation of a field in the directory and in a record.
 *
 * - `string`: the first value
 * - `strings`: every value, in the directory's order
 * - `boolean`: RFC 4517 Boolean (`TRUE`, `FALSE`)
 * - `timestamp`: RFC 4517 Generalized Time, a `Date` in a record
 * - `certificates`: DER, one `Buffer` per certificate
 */
export type FieldSyntax =
  'string' | 'strings' | 'boolean' | 'timestamp' | 'certificates';

/** One row of the attribute table. */
export interface FieldDefinition {
  /** LDAP attribute; `undefined` when the directory has none. */
  readonly attribute?: string;
  readonly syntax: FieldSyntax;
  /** Whether private profiles hide it by default, except from their owners. */
  readonly hidden?: boolean;
  /**
   * How its search parameter matches; `substring` has an `__exact` form too.
   * Default: the field has no search parameter.
   */
  readonly search?: 'substring' | 'exact';
  /** Name of the search parameter. Default: the name of the field. */
  readonly parameter?: string;
}

/**
 * Fields of users in the order of the contract, with the attributes of FreeIPA
 * and its extension freeipa-fas. LDAP searches, responses, private profiles,
 * indexes and search parameters use this table; a test compares it with the
 * OpenAPI document.
 */
export const userFields = {
  username: { attribute: 'uid', syntax: 'string', search: 'substring' },
  surname: {
    attribute: 'sn',
    syntax: 'string',
    hidden: true,
    search: 'substring',
  },
  givenname: {
    attribute: 'givenName',
    syntax: 'string',
    hidden: true,
    search: 'substring',
  },
  human_name: {
    attribute: 'displayName',
    syntax: 'string',
    hidden: true,
    search: 'substring',
  },
  emails: {
    attribute: 'mail',
    syntax: 'strings',
    search: 'exact',
    parameter: 'email',
  },
  ircnicks: {
    attribute: 'fasIRCNick',
    syntax: 'strings',
    hidden: true,
    search: 'substring',
    parameter: 'ircnick',
  },
  locale: { attribute: 'fasLocale', syntax: 'string', hidden: true },
  timezone: { attribute: 'fasTimeZone', syntax: 'string', hidden: true },
  gpgkeyids: { attribute: 'fasGPGKeyId', syntax: 'strings', hidden: true },
  sshpubkeys: { attribute: 'ipaSshPubKey', syntax: 'strings', hidden: true },
  certificates: { attribute: 'userCertificate;binary', syntax: 'certificates' },
  creation: { attribute: 'fasCreationTime', syntax: 'timestamp' },
  is_private: { attribute: 'fasIsPrivate', syntax: 'boolean' },
  locked: { attribute: 'nsAccountLock', syntax: 'boolean' },
  github_username: {
    attribute: 'fasGitHubUsername',
    syntax: 'string',
    hidden: true,
    search: 'exact',
  },
  gitlab_username: {
    attribute: 'fasGitLabUsername',
    syntax: 'string',
    hidden: true,
    search: 'exact',
  },
  pronouns: { attribute: 'fasPronoun', syntax: 'strings', hidden: true },
  rhbzemail: { attribute: 'fasRHBZEmail', syntax: 'string', search: 'exact' },
  websites: {
    attribute: 'fasWebsiteURL',
    syntax: 'strings',
    hidden: true,
    search: 'exact',
    parameter: 'website',
  },
  rssurls: {
    attribute: 'fasRssUrl',
    syntax: 'strings',
    hidden: true,
    search: 'exact',
    parameter: 'rssurl',
  },
} as const satisfies Record<string, FieldDefinition>;

/** Name of a user field. */
export type UserField = keyof typeof userFields;

/** All user fields, in the order of the contract. */
export const userFieldNames = Object.keys(userFields) as readonly UserField[];

/** Fields that private profiles hide by default, in the order of the contract. */
export const hiddenFieldNames = userFieldNames.filter(
  name => 'hidden' in userFields[name],
);

/**
 * Returns the search parameters with one kind of match, and their fields, in the
 * order of the contract.
 */
export function searchParameters(
  search: NonNullable<FieldDefinition['search']>,
): Readonly<Record<string, UserField>> {
  const found = userFieldNames.flatMap(name => {
    const field: FieldDefinition = userFields[name];
    return field.search === search ? [[field.parameter ?? name, name]] : [];
  });
  return Object.fromEntries(found);
}

/** Whether a text is the name of a user field. */
export function isUserField(name: string): name is UserField {
  return Object.hasOwn(userFields, name);
}

/** Fields of groups in the order of the contract. */
export const groupFields = {
  groupname: { attribute: 'cn', syntax: 'string' },
  description: { attribute: 'description', syntax: 'string' },
  mailing_list: { attribute: 'fasMailingList', syntax: 'string' },
  url: { attribute: 'fasURL', syntax: 'string' },
  irc: { attribute: 'fasIRCChannel', syntax: 'strings' },
  discussion_url: { attribute: 'fasDiscussionURL', syntax: 'string' },
} as const satisfies Record<string, FieldDefinition>;

/** Name of a group field. */
export type GroupField = keyof typeof groupFields;

/** All group fields, in the order of the contract. */
export const groupFieldNames = Object.keys(
  groupFields,
) as readonly GroupField[];

/** Whether a text is the name of a group field. */
export function isGroupField(name: string): name is GroupField {
  return Object.hasOwn(groupFields, name);
}

/** Preset of the attribute table. */
export type SchemaPreset = 'fas' | 'freeipa';

/** The attribute table of a site. */
export interface DirectorySchema {
  /** Object class of the users that the API serves. */
  readonly userClass: string;
  /** Object class of the groups that the API serves. */
  readonly groupClass: string;
  readonly users: Readonly<Record<UserField, FieldDefinition>>;
  readonly groups: Readonly<Record<GroupField, FieldDefinition>>;
  /** Whether the directory has the agreements of freeipa-fas. */
  readonly hasAgreements: boolean;
}

/**
 * Returns the attribute table of a preset: `fas` for FreeIPA with freeipa-fas,
 * `freeipa` for FreeIPA alone, where the fields of the extension are `null`.
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
