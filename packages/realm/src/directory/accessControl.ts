import { BASE_DN } from '../RealmLayout';

/** Subjects in ACI syntax. */
const ANYONE = 'userdn = "ldap:///anyone"';
const AUTHENTICATED = 'userdn = "ldap:///all"';
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

/** Attributes that FreeIPA adds to permissions to read `objectClass`. */
const OPERATIONAL = ['entryusn', 'createTimestamp', 'modifyTimestamp'];

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

/** At the suffix: the tree and administrators (20-aci.update). */
const SUFFIX = [
  mayRead('Read DIT', ['objectClass', 'cn', 'dc'], {
    filter: '(|(objectClass=domain)(objectClass=nsContainer))',
    who: ANYONE,
  }),
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
      ...OPERATIONAL,
    ],
    { filter: '(objectClass=posixAccount)', who: ANYONE },
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

const GROUP_FILTER = '(|(objectClass=ipaUserGroup)(objectClass=posixGroup))';

/** On groups: ipaserver/plugins/group.py. */
const GROUPS = [
  mayRead(
    'Read Groups',
    [
      ...['objectClass', 'cn', 'description', 'gidNumber', 'ipaUniqueID'],
      ...['businessCategory', 'o', 'ou', 'owner', 'seeAlso', 'memberManager'],
      ...OPERATIONAL,
    ],
    { filter: GROUP_FILTER, who: ANYONE },
  ),
  mayRead(
    'Read Group Membership',
    ['member', 'memberOf', 'memberUid', 'memberUser', 'memberHost'],
    { filter: GROUP_FILTER },
  ),
];

/** Added by freeipa-fas (ipaserver/plugins/groupfas.py). */
const FAS_GROUPS = mayRead(
  'Read FAS group attributes',
  ['fasURL', 'fasMailingList', 'fasIRCChannel', 'fasDiscussionURL'],
  { filter: '(objectClass=fasGroup)' },
);

const SERVICES = mayRead(
  'Read Services',
  [
    ...['objectClass', 'ipaUniqueID', 'managedBy', 'memberOf'],
    ...['userCertificate', 'ipaKrbAuthzData', 'krbObjectReferences'],
    ...['krbPrincipalAuthInd', ...KERBEROS_NAMES, ...OPERATIONAL],
  ],
  { filter: '(objectClass=ipaService)' },
);

const HOSTS = mayRead(
  'Read Hosts',
  [
    ...['objectClass', 'cn', 'description', 'fqdn', 'ipaUniqueID'],
    ...['ipaClientVersion', 'ipaSshPubKey', 'l', 'managedBy', 'memberOf'],
    ...['enrolledBy', 'userCertificate', 'userClass', ...KERBEROS_NAMES],
    ...OPERATIONAL,
  ],
  { filter: '(objectClass=ipaHost)' },
);

const AGREEMENTS = mayRead(
  'Read FAS Agreements',
  [
    ...['objectClass', 'cn', 'description', 'ipaUniqueID', 'ipaEnabledFlag'],
    ...['member', 'memberUser', ...OPERATIONAL],
  ],
  { filter: '(objectClass=fasAgreement)' },
);

/**
 * Returns the access control instructions of each container by its DN. They
 * grant the same as FreeIPA and freeipa-fas. The service account has the rights
 * of all authenticated clients.
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
  };
}
