import { LdifEntry } from '../ldif/LdifEntry';

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
