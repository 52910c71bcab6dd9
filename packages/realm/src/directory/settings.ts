import { LdifEntry } from '../ldif/LdifEntry';
import { BASE_DN, REALM } from '../RealmLayout';

type Settings = Readonly<Record<string, string | readonly string[]>>;

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
