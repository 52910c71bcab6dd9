import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LdifEntry, normalizeDn } from '../ldif/LdifEntry';
import { PACKAGE_FOLDER } from '../RealmOptions';
import { BASE_DN, REALM, type RealmLayout } from '../RealmLayout';
import type { Account } from '../processes/ProcessOwner';
import { formatLdif, parseLdif } from '../ldif/ldif';

const DATABASE = 'cn=ldbm database,cn=plugins,cn=config';

/** FreeIPA's limits for an ordinary bind (install/updates/10-config.update). */
const LIMIT = '100000';

/** Reference attributes that FreeIPA keeps in step (25-referint.update). */
const REFERENCES = [
  'member',
  'uniquemember',
  'owner',
  'seeAlso',
  'manager',
  'secretary',
  'memberUser',
  'memberHost',
  'managedBy',
  'memberManager',
];

/**
 * What differs from a fresh instance: attributes replaced in entries of
 * `dse.ldif` that are there already. Loopback only, the secure port on, no
 * local socket, FreeIPA's limits and plug-ins; no transaction waits for the
 * disk.
 */
export const CHANGED_SETTINGS: Readonly<Record<string, Settings>> = {
  'cn=config': {
    'nsslapd-listenhost': '127.0.0.1',
    'nsslapd-securelistenhost': '127.0.0.1',
    'nsslapd-security': 'on',
    'nsslapd-ldapilisten': 'off',
    'nsslapd-sizelimit': LIMIT,
    'nsslapd-entryusn-global': 'on',
    'nsslapd-entryusn-import-initval': 'next',
    'nsslapd-sasl-mapping-fallback': 'on',
    'nsslapd-minssf-exclude-rootdse': 'on',
  },
  [`cn=config,${DATABASE}`]: {
    'nsslapd-lookthroughlimit': LIMIT,
    'nsslapd-idlistscanlimit': LIMIT,
    'nsslapd-pagedlookthroughlimit': '500000', // freeipa-fas, 89-fas.update
  },
  // An import queues entries in a share of this: with the default of 512 kB it
  // takes two minutes for 20,000 people, with half a gigabyte ten seconds.
  [`cn=userroot,${DATABASE}`]: { 'nsslapd-cachememsize': '536870912' },
  [`cn=bdb,cn=config,${DATABASE}`]: { 'nsslapd-db-durable-transaction': 'off' },
  'cn=USN,cn=plugins,cn=config': { 'nsslapd-pluginenabled': 'on' },
  'cn=MemberOf Plugin,cn=plugins,cn=config': {
    'nsslapd-pluginenabled': 'on',
    memberOfGroupAttr: ['member', 'memberUser', 'memberHost'],
    memberOfEntryScope: BASE_DN,
    memberOfEntryScopeExcludeSubtree: `cn=provisioning,${BASE_DN}`,
  },
  'cn=referential integrity postoperation,cn=plugins,cn=config': {
    'nsslapd-pluginenabled': 'on',
    'referint-membership-attr': REFERENCES,
    // A preserved user is removed from its groups (25-referint.update).
    'nsslapd-pluginEntryScope': BASE_DN,
    'nsslapd-pluginExcludeEntryScope': `cn=provisioning,${BASE_DN}`,
    'nsslapd-pluginContainerScope': BASE_DN,
  },
};

/** Where an instance keeps how SASL names become entries. */
export const SASL_MAPPINGS = 'cn=mapping,cn=sasl,cn=config';

/** FreeIPA's two mappings, in place of the instance's own. */
export const ADDED_SETTINGS: readonly LdifEntry[] = [
  saslMapping(
    'Full Principal',
    '\\(.*\\)@\\(.*\\)',
    '(krbPrincipalName=\\1@\\2)',
  ),
  saslMapping('Name Only', '^[^:@]+$', `(krbPrincipalName=&@${REALM})`),
];

const SCHEMA_FOLDER = join(PACKAGE_FOLDER, 'schema');

/**
 * Makes a stopped, fresh instance what FreeIPA would have made of it, by
 * editing its `dse.ldif`: one rewrite instead of dozens of modifications and a
 * restart.
 *
 * @throws Error when the instance lacks an entry that the settings change
 */
export async function configureInstance(
  layout: RealmLayout,
  schema: 'fas' | 'freeipa',
): Promise<void> {
  const files =
    schema === 'fas' ? ['60freeipa.ldif', '89fas.ldif'] : ['60freeipa.ldif'];
  for (const file of files) {
    await copyFile(
      join(SCHEMA_FOLDER, file),
      join(layout.config, 'schema', file),
    );
  }
  await editDse(layout, entries => {
    const mappings = `,${normalizeDn(SASL_MAPPINGS)}`;
    const kept = new Map(
      entries
        .map((entry): [string, LdifEntry] => [normalizeDn(entry.dn), entry])
        .filter(([dn]) => !dn.endsWith(mappings)),
    );
    for (const [dn, settings] of Object.entries(CHANGED_SETTINGS)) {
      const entry = kept.get(normalizeDn(dn));
      if (!entry) {
        throw new Error(
          `The directory server has no ${dn}: is its version known?`,
        );
      }
      for (const [name, value] of Object.entries(settings)) {
        entry.replace(name, ...(typeof value === 'string' ? [value] : value));
      }
    }
    for (const entry of [...ADDED_SETTINGS, ...indexEntries(schema)]) {
      kept.set(normalizeDn(entry.dn), entry);
    }
    return [...kept.values()];
  });
}

type Settings = Readonly<Record<string, string | readonly string[]>>;

function saslMapping(name: string, pattern: string, filter: string): LdifEntry {
  return new LdifEntry(`cn=${name},${SASL_MAPPINGS}`, {
    objectClass: ['top', 'nsSaslMapping'],
    cn: name,
    nsSaslMapRegexString: pattern,
    nsSaslMapBaseDNTemplate: BASE_DN,
    nsSaslMapFilterTemplate: filter,
    nsSaslMapPriority: '10',
  });
}

const INDEXES = 'cn=index,cn=userroot,cn=ldbm database,cn=plugins,cn=config';

/** `eq` equality, `pres` presence, `sub` substring. */
type Kinds = readonly ('eq' | 'pres' | 'sub')[];

/** FreeIPA's indexes on attributes that the realm has (20-indices.update). */
const FREEIPA: Readonly<Record<string, Kinds>> = {
  cn: ['eq', 'pres', 'sub'],
  description: ['eq', 'sub'],
  displayName: ['eq', 'sub'],
  fqdn: ['eq', 'pres', 'sub'],
  givenName: ['eq', 'pres', 'sub'],
  ipaEnabledFlag: ['eq'],
  ipaKrbAuthzData: ['eq', 'sub'],
  ipaUniqueID: ['eq'],
  krbCanonicalName: ['eq', 'sub'],
  krbPasswordExpiration: ['eq'],
  krbPrincipalName: ['eq', 'sub'],
  mail: ['eq', 'pres', 'sub'],
  managedBy: ['eq', 'pres', 'sub'],
  manager: ['eq', 'pres', 'sub'],
  member: ['eq', 'pres', 'sub'],
  memberHost: ['eq', 'pres', 'sub'],
  memberManager: ['eq', 'pres'],
  memberOf: ['eq', 'sub'],
  memberUser: ['eq', 'pres', 'sub'],
  owner: ['eq', 'sub'],
  secretary: ['eq', 'pres', 'sub'],
  seeAlso: ['eq', 'sub'],
  sn: ['eq', 'pres', 'sub'],
  title: ['eq', 'sub'],
  uid: ['eq', 'sub'],
  userCertificate: ['eq', 'pres'],
};

/**
 * What freeipa-fas adds (updates/89-fas.update). It indexes neither the GitHub
 * and GitLab names nor the creation time, so neither does the realm.
 */
const FAS: Readonly<Record<string, Kinds>> = {
  fasGPGKeyId: ['eq', 'pres'],
  fasIRCNick: ['eq', 'pres', 'sub'],
  fasRssUrl: ['pres'],
  fasWebsiteUrl: ['pres'],
  nsAccountLock: ['eq'],
};

const MATCHING_RULES: Readonly<Record<string, readonly string[]>> = {
  gidNumber: ['integerOrderingMatch'],
  krbPrincipalName: ['caseIgnoreIA5Match', 'caseExactIA5Match'],
  uidNumber: ['integerOrderingMatch'],
};

/** The index entries of the database, for an instance with or without FAS. */
export function indexEntries(schema: 'fas' | 'freeipa'): LdifEntry[] {
  const kinds: Readonly<Record<string, Kinds>> = {
    ...FREEIPA,
    gidNumber: ['eq'],
    uidNumber: ['eq'],
    ...(schema === 'fas' && FAS),
  };
  return Object.entries(kinds).map(
    ([attribute, types]) =>
      new LdifEntry(`cn=${attribute},${INDEXES}`, {
        objectClass: ['top', 'nsIndex'],
        cn: attribute,
        nsSystemIndex: 'false',
        nsIndexType: [...types],
        nsMatchingRule: [...(MATCHING_RULES[attribute] ?? [])],
      }),
  );
}

/** Stands for the realm's folder in an instance that waits to be copied. */
const NOWHERE = '/nowhere';

/** Takes this folder out of the configuration, so that a copy can have another. */
export async function unplaceInstance(layout: RealmLayout): Promise<void> {
  await editDse(layout, entries =>
    entries.map(entry => substitute(entry, layout.dir, NOWHERE)),
  );
}

export interface Place {
  ldapPort: number;
  ldapsPort: number;
  account: Account;
  accessLog: 'immediate' | 'buffered';
}

/** Gives a copied instance its folder, its ports, its owner and its log. */
export async function placeInstance(
  layout: RealmLayout,
  { ldapPort, ldapsPort, account, accessLog }: Place,
): Promise<void> {
  await editDse(layout, entries => {
    const placed = entries.map(entry => substitute(entry, NOWHERE, layout.dir));
    placed
      .find(({ dn }) => normalizeDn(dn) === 'cn=config')
      ?.replace('nsslapd-port', String(ldapPort))
      .replace('nsslapd-securePort', String(ldapsPort))
      .replace('nsslapd-localuser', account.name)
      .replace(
        'nsslapd-accesslog-logbuffering',
        accessLog === 'buffered' ? 'on' : 'off',
      );
    return placed;
  });
}

/** Rewrites the configuration of a server that does not run. */
export async function editDse(
  { config }: RealmLayout,
  edit: (entries: LdifEntry[]) => LdifEntry[],
): Promise<void> {
  const file = join(config, 'dse.ldif');
  const entries = edit(parseLdif(await readFile(file, 'utf8')));
  await writeFile(file, entries.map(formatLdif).join(''), { mode: 0o600 });
}

/** An entry with one text in place of another, wherever its values have it. */
export function substitute(
  entry: LdifEntry,
  from: string,
  to: string,
): LdifEntry {
  const moved = new LdifEntry(entry.dn);
  for (const [name, values] of entry) {
    const replaced = values.map(value =>
      typeof value === 'string' ? value.replaceAll(from, to) : value,
    );
    moved.add(name, ...replaced);
  }
  return moved;
}
