const SUFFIX = 'dc=example,dc=test';
const USERS = `cn=users,cn=accounts,${SUFFIX}`;
const GROUPS = `cn=groups,cn=accounts,${SUFFIX}`;
const AGREEMENTS = `cn=fasagreements,${SUFFIX}`;

type Attributes = Readonly<Record<string, string | readonly string[]>>;

/** Returns the DN of a user. */
export function userDn(uid: string): string {
  return `uid=${uid},${USERS}`;
}

/** Returns the DN of a group. */
export function groupDn(cn: string): string {
  return `cn=${cn},${GROUPS}`;
}

/** Returns the DN of an agreement. */
export function agreementDn(cn: string): string {
  return `cn=${cn},${AGREEMENTS}`;
}

/** Returns an LDIF change record (RFC 2849) that adds an entry. */
export function addEntry(dn: string, attributes: Attributes): string {
  const lines = Object.entries(attributes).flatMap(([name, values]) =>
    [values]
      .flat()
      .map(value => `${name}:: ${Buffer.from(value).toString('base64')}`),
  );
  return [`dn: ${dn}`, 'changetype: add', ...lines, '', ''].join('\n');
}

/** Returns a change record that adds a user account. */
export function addUser(uid: string, attributes: Attributes = {}): string {
  return addEntry(userDn(uid), {
    objectClass: ['inetOrgPerson', 'posixAccount', 'krbPrincipalAux'],
    uid,
    cn: uid,
    sn: uid,
    givenName: uid,
    uidNumber: '7',
    gidNumber: '7',
    homeDirectory: '/',
    krbPrincipalName: `${uid}@EXAMPLE.TEST`,
    krbCanonicalName: `${uid}@EXAMPLE.TEST`,
    ...attributes,
  });
}

/** Returns a change record that adds a group with these members. */
export function addGroup(
  cn: string,
  members: readonly string[],
  attributes: Attributes = {},
): string {
  return addEntry(groupDn(cn), {
    objectClass: ['ipaUserGroup'],
    cn: cn.replace(/\\(.)/g, '$1'),
    member: members,
    ...attributes,
  });
}

const fasUser = [
  ...['inetOrgPerson', 'posixAccount', 'krbPrincipalAux', 'fasUser'],
];
const fasGroup = ['ipaUserGroup', 'fasGroup'];

/**
 * Returns entries with edge cases: unusual spelling, spaces and Unicode,
 * multiple values where one is usual, cyclic and deeply nested groups, members
 * that are missing or spelled differently, indirect sponsors, agreements with
 * linked groups, and principal names that two entries share.
 */
export function conformanceEntries(schema: 'fas' | 'freeipa'): string {
  const isFas = schema === 'fas';
  const user = (uid: string, attributes: Attributes, fas: Attributes = {}) =>
    addUser(uid, {
      ...attributes,
      ...(isFas && { objectClass: fasUser, ...fas }),
    });
  const group = (
    cn: string,
    members: readonly string[],
    attributes: Attributes = {},
  ) =>
    addGroup(cn, members, {
      ...attributes,
      ...(isFas && { objectClass: fasGroup }),
    });
  return [
    ...edgeCaseUsers(user),
    ...edgeCaseGroups(group),
    ...(isFas ? edgeCaseAgreements() : []),
  ].join('');
}

type Add = (uid: string, attributes: Attributes, fas?: Attributes) => string;

function edgeCaseUsers(user: Add): readonly string[] {
  return [
    user('spaces', { displayName: '  Two  Spaces   Here ', sn: 'Wide\u3000' }),
    user('yamada', { displayName: '山田\u3000太郎', sn: '山田' }),
    user('nbsp', { displayName: 'Zoé\u00a0Durand', sn: 'Durand\u200bé' }),
    user('composed', { sn: 'Café', displayName: 'René Café' }),
    user('decomposed', {
      sn: 'Cafe\u0301',
      displayName: 'Rene\u0301 Cafe\u0301',
    }),
    user('folding', {
      sn: ['ΟΔΥΣΣΕΥΣ', 'Straße'],
      givenName: ['İstanbul', 'ısı', 'Ǆorđe'],
      displayName: 'Ｆｕｌｌ ﬁsh \u212Aelvin ſ 𐐀x',
    }),
    user(
      'veiled',
      {
        sn: 'Veiled',
        givenName: 'Vera',
        displayName: 'Vera Veiled',
        mail: ['vera@example.test', 'Vera+Alt@Example.Test'],
      },
      {
        fasIsPrivate: 'TRUE',
        fasIRCNick: ['irc:/vera', 'matrix:/vera'],
        fasGitHubUsername: 'Vera-GH',
        fasGitLabUsername: 'vera_gl',
        fasWebsiteUrl: 'https://vera.example.org/?a=(b)*',
        fasRssUrl: 'https://vera.example.org/feed',
        fasRHBZEmail: 'vera@bugs.example.org',
        fasCreationTime: '20200229000000Z',
      },
    ),
    user('twin', { krbPrincipalName: ['twin@EXAMPLE.TEST', 'two@OTHER.TEST'] }),
    user('twin2', {
      krbPrincipalName: ['twin2@EXAMPLE.TEST', 'two@OTHER.TEST'],
    }),
    addUser('outsider'),
  ];
}

function edgeCaseGroups(group: typeof addGroup): readonly string[] {
  const chain = [1, 2, 3, 4, 5];
  return [
    // Nested groups come first: the memberOf plugin computes upwards.
    ...chain
      .toReversed()
      .map(n =>
        group(
          `chain-${n}`,
          n === 5
            ? [userDn('dave'), userDn('carol'), userDn('outsider')]
            : [groupDn(`chain-${n + 1}`), userDn(`twin${n === 2 ? '2' : ''}`)],
        ),
      ),
    group('circle-a', [userDn('alice')]),
    group('circle-b', [userDn('erin'), groupDn('circle-a')]),
    `dn: ${groupDn(
      'circle-a',
    )}\nchangetype: modify\nadd: member\nmember: ${groupDn('circle-b')}\n\n`,
    addGroup('odd\\, name \\+ more', [userDn('x'), groupDn('chain-4')]),
    group('commas', [groupDn('odd\\, name \\+ more')]),
    group('spelled', [
      `UID=\\61lice , CN=Users, cn=accounts,DC=example,dc=TEST`,
      userDn('gone'),
      userDn('BOB'),
    ]),
    group('Sponsored.Group', [userDn('twin')], {
      memberManager: [
        ...[groupDn('chain-3'), groupDn('odd\\, name \\+ more')],
        ...[userDn('admin'), userDn('carol'), userDn('erin'), userDn('gone')],
      ],
    }),
    group('empty', []),
    group('three word name', [userDn('alice'), groupDn('design team')], {
      memberManager: userDn('erin'),
    }),
    group('double  space', []),
  ];
}

function edgeCaseAgreements(): readonly string[] {
  const add = (cn: string, attributes: Attributes) =>
    addEntry(agreementDn(cn.replace(/[,#]/g, '\\$&')), {
      objectClass: ['fasAgreement', 'ipaAssociation'],
      cn,
      ipaUniqueID: cn,
      ...attributes,
    });
  return [
    add('Linked', {
      ipaEnabledFlag: 'TRUE',
      member: [groupDn('circle-a'), groupDn('chain-1')],
      memberUser: [userDn('dave'), userDn('Carol')],
    }),
    add('#Odd, name', { ipaEnabledFlag: 'TRUE', memberUser: userDn('alice') }),
    add('without a flag', { memberUser: userDn('alice') }),
  ];
}
