import { BASE_DN } from '../RealmLayout';

/** Subjects in ACI syntax. */
const AUTHENTICATED = 'userdn = "ldap:///all"';
const SELF = 'userdn = "ldap:///self"';
const ADMINS = `groupdn = "ldap:///cn=admins,cn=groups,cn=accounts,${BASE_DN}"`;

/** Attributes that no client may read. */
const SECRETS = ['userPassword', 'krbPrincipalKey'];

/** Attributes that administrators cannot write (20-aci.update). */
const NOT_FOR_ADMINS = [
  ...SECRETS,
  'krbPrincipalName',
  'krbCanonicalName',
  'krbLastPwdChange',
  'krbExtraData',
  'krbLastSuccessfulAuth',
  'krbLastFailedAuth',
  'ipaUniqueID',
  'memberOf',
  'enrolledBy',
];

const KERBEROS_NAMES = [
  'krbPrincipalName',
  'krbCanonicalName',
  'krbPrincipalAliases',
  'krbPrincipalExpiration',
  'krbPasswordExpiration',
  'krbLastPwdChange',
];

function mayRead(
  name: string,
  attributes: readonly string[],
  { filter, who = AUTHENTICATED }: { filter?: string; who?: string } = {},
): string {
  const target = filter ? `(targetfilter = "${filter}")` : '';
  return `(targetattr = "${attributes.join(
    ' || ',
  )}")${target}(version 3.0; acl "${name}"; allow (compare, read, search) ${who};)`;
}

/** At the suffix: the tree, operational attributes, administrators. */
const SUFFIX = [
  mayRead('Read DIT', ['objectClass', 'cn', 'dc'], {
    filter: '(|(objectClass=domain)(objectClass=nsContainer))',
  }),
  mayRead('Read timestamps and USN', [
    'createTimestamp',
    'modifyTimestamp',
    'entryusn',
  ]),
  mayRead('Read creators and modifiers', ['creatorsName', 'modifiersName']),
  mayRead(
    'Admins read names',
    ['krbPrincipalName', 'krbCanonicalName', 'ipaUniqueID', 'memberOf'],
    { who: ADMINS },
  ),
  `(targetattr != "${NOT_FOR_ADMINS.join(
    ' || ',
  )}")(version 3.0; acl "Admin can manage any entry"; allow (all) ${ADMINS};)`,
];

/** On people: FreeIPA's managed permissions of ipaserver/plugins/user.py. */
const USERS = [
  mayRead(
    'Read User Standard Attributes',
    [
      ...['objectClass', 'cn', 'sn', 'description', 'title', 'uid'],
      ...['displayName', 'givenName', 'initials', 'manager', 'gecos'],
      ...['gidNumber', 'homeDirectory', 'loginShell', 'uidNumber'],
    ],
    { filter: '(objectClass=posixAccount)' },
  ),
  mayRead(
    'Read User Addressbook Attributes',
    [
      ...['mail', 'telephoneNumber', 'mobile', 'l', 'ou', 'o', 'st', 'street'],
      ...['employeeNumber', 'employeeType', 'departmentNumber', 'carLicense'],
      ...['preferredLanguage', 'labeledURI', 'seeAlso', 'secretary'],
      ...['userCertificate', 'inetUserStatus', 'inetUserHTTPURL'],
    ],
    { filter: '(objectClass=posixAccount)' },
  ),
  mayRead(
    'Read User IPA Attributes',
    ['ipaUniqueID', 'ipaSshPubKey', 'ipaUserAuthType', 'userClass'],
    { filter: '(objectClass=posixAccount)' },
  ),
  mayRead(
    'Read User Kerberos Attributes',
    [...KERBEROS_NAMES, 'krbPrincipalType', 'nsAccountLock'],
    { filter: '(objectClass=posixAccount)' },
  ),
  mayRead('Read User Membership', ['memberOf'], {
    filter: '(objectClass=posixAccount)',
  }),
];

/** Added by freeipa-fas (ipaserver/plugins/userfas.py). */
const FAS_USERS = mayRead(
  'Read FAS user attributes',
  [
    ...['nsAccountLock', 'fasTimezone', 'fasLocale', 'fasIRCNick'],
    ...['fasGPGKeyId', 'fasStatusNote', 'fasCreationTime', 'fasRHBZEmail'],
    ...['fasGitHubUsername', 'fasGitLabUsername', 'fasWebsiteUrl'],
    ...['fasIsPrivate', 'fasPronoun', 'fasRssUrl'],
  ],
  { filter: '(objectClass=fasUser)' },
);

/** On groups: ipaserver/plugins/group.py. */
const GROUPS = [
  mayRead('Read Groups', [
    ...['objectClass', 'cn', 'description', 'gidNumber', 'ipaUniqueID'],
    ...['businessCategory', 'o', 'ou', 'owner', 'seeAlso'],
  ]),
  mayRead('Read Group Membership', [
    ...['member', 'memberOf', 'memberUid', 'memberUser', 'memberHost'],
    'memberManager',
  ]),
];

/** Added by freeipa-fas (ipaserver/plugins/groupfas.py). */
const FAS_GROUPS = mayRead(
  'Read FAS group attributes',
  ['fasURL', 'fasMailingList', 'fasIRCChannel', 'fasDiscussionURL'],
  { filter: '(objectClass=fasGroup)' },
);

const SERVICES = mayRead('Read Services', [
  ...['objectClass', 'ipaUniqueID', 'managedBy', 'memberOf'],
  ...['userCertificate', 'ipaKrbAuthzData', 'krbObjectReferences'],
  ...['krbPrincipalAuthInd', ...KERBEROS_NAMES],
]);

const HOSTS = mayRead('Read Hosts', [
  ...['objectClass', 'cn', 'description', 'fqdn', 'ipaUniqueID'],
  ...['ipaClientVersion', 'ipaSshPubKey', 'l', 'managedBy', 'memberOf'],
  ...['enrolledBy', 'userCertificate', 'userClass', ...KERBEROS_NAMES],
]);

const AGREEMENTS = mayRead('Read FAS Agreements', [
  ...['objectClass', 'cn', 'description', 'ipaUniqueID', 'ipaEnabledFlag'],
  ...['member', 'memberUser'],
]);

/** A service account can read only its own entry. */
const SYSACCOUNTS = mayRead('Read own account', ['objectClass', 'uid'], {
  who: SELF,
});

/**
 * Returns the access control instructions of each container by its DN. They
 * grant the same as FreeIPA and freeipa-fas to authenticated clients, including
 * the service account. An anonymous client reads only the root DSE.
 */
export function accessControl(
  schema: 'fas' | 'freeipa',
): Readonly<Record<string, readonly string[]>> {
  const fas = schema === 'fas';
  return {
    [BASE_DN]: SUFFIX,
    [`cn=users,cn=accounts,${BASE_DN}`]: fas ? [...USERS, FAS_USERS] : USERS,
    [`cn=groups,cn=accounts,${BASE_DN}`]: fas
      ? [...GROUPS, FAS_GROUPS]
      : GROUPS,
    [`cn=services,cn=accounts,${BASE_DN}`]: [SERVICES],
    [`cn=computers,cn=accounts,${BASE_DN}`]: [HOSTS],
    [`cn=fasagreements,${BASE_DN}`]: fas ? [AGREEMENTS] : [],
    [`cn=sysaccounts,cn=etc,${BASE_DN}`]: [SYSACCOUNTS],
  };
}
