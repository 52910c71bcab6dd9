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

/** Attributes of the referential integrity plugin (25-referint.update). */
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
 * Attributes that are replaced in entries of a new `dse.ldif`: loopback only,
 * the secure port, no local socket, FreeIPA's limits and plugins, and no sync
 * to disk after a transaction.
 */
const CHANGED_SETTINGS: Readonly<Record<string, Settings>> = {
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
  // The queue of an import is a share of this cache: 20,000 users take two
  // minutes with the default of 512 kB, and ten seconds with this size.
  [`cn=userroot,${DATABASE}`]: { 'nsslapd-cachememsize': '536870912' },
  [`cn=bdb,cn=config,${DATABASE}`]: {
    'nsslapd-db-durable-transaction': 'off',
    // By default, a share of the machine's memory: more than a gigabyte, whose
    // tables take half a second of CPU time at each start.
    'nsslapd-cache-autosize': '0',
    'nsslapd-dbcachesize': '134217728',
  },
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

/** Container of the mappings of SASL names to entries. */
const SASL_MAPPINGS = 'cn=mapping,cn=sasl,cn=config';

/** FreeIPA's mappings, which replace the default ones. */
const ADDED_SETTINGS: readonly LdifEntry[] = [
  saslMapping(
    'Full Principal',
    '\\(.*\\)@\\(.*\\)',
    '(krbPrincipalName=\\1@\\2)',
  ),
  saslMapping('Name Only', '^[^:@]+$', `(krbPrincipalName=&@${REALM})`),
];

const SCHEMA_FOLDER = join(PACKAGE_FOLDER, 'schema');

/**
 * Configures a stopped instance as FreeIPA does, with one edit of `dse.ldif`
 * instead of dozens of modifications and a restart.
 *
 * @throws Error when the instance lacks a changed entry
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
          `The directory server has no ${dn}; its version is not supported`,
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

/** FreeIPA's indexes of the realm's attributes (20-indices.update). */
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
 * Indexes of freeipa-fas (updates/89-fas.update), which does not index GitHub
 * and GitLab names and the creation time.
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

/** Returns the entries of the database's indexes. */
function indexEntries(schema: 'fas' | 'freeipa'): LdifEntry[] {
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

/** Placeholder of the realm's folder in a template. */
const NOWHERE = '/nowhere';

/**
 * Removes the path of the realm's folder from the configuration of a template.
 */
export async function removePaths(layout: RealmLayout): Promise<void> {
  await editDse(layout, entries =>
    entries.map(entry => replaceText(entry, layout.dir, NOWHERE)),
  );
}

interface Place {
  ldapPort: number;
  ldapsPort: number;
  account: Account;
  accessLog: 'immediate' | 'buffered';
}

/** Writes the path, ports, account and log setting of a copied instance. */
export async function placeInstance(
  layout: RealmLayout,
  { ldapPort, ldapsPort, account, accessLog }: Place,
): Promise<void> {
  await editDse(layout, entries => {
    const placed = entries.map(entry =>
      replaceText(entry, NOWHERE, layout.dir),
    );
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

/** Edits the configuration of a stopped server. */
export async function editDse(
  { config }: RealmLayout,
  edit: (entries: LdifEntry[]) => LdifEntry[],
): Promise<void> {
  const file = join(config, 'dse.ldif');
  const entries = edit(parseLdif(await readFile(file, 'utf8')));
  await writeFile(file, entries.map(formatLdif).join(''), { mode: 0o600 });
}

/** Returns a copy of an entry with a text replaced in all values. */
export function replaceText(
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
