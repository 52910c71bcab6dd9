import { trustedDn, type DistinguishedName } from './DistinguishedName';

/** Where FreeIPA keeps its entries, below the directory's suffix. */
export interface Containers {
  /** Users, groups, services and hosts together. */
  readonly accounts: DistinguishedName;
  readonly users: DistinguishedName;
  readonly groups: DistinguishedName;
  /** freeipa-fas's agreements. */
  readonly agreements: DistinguishedName;
  /** Where `ipa user-del --preserve` moves users, outside of `accounts`. */
  readonly deletedUsers: DistinguishedName;
}

/** The containers of FreeIPA's tree below a suffix. */
export function containersBelow(baseDn: string): Containers {
  const accounts = `cn=accounts,${baseDn}`;
  return Object.freeze({
    accounts: trustedDn(accounts),
    users: trustedDn(`cn=users,${accounts}`),
    groups: trustedDn(`cn=groups,${accounts}`),
    agreements: trustedDn(`cn=fasagreements,${baseDn}`),
    deletedUsers: trustedDn(
      `cn=deleted users,cn=accounts,cn=provisioning,${baseDn}`,
    ),
  });
}
