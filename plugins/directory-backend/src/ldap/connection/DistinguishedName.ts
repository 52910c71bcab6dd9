import { DN } from 'ldapts';

/**
 * A distinguished name (RFC 4514) that is safe to send: from the
 * configuration, from the directory, or built by {@link childOf}.
 */
export type DistinguishedName = string & { readonly __dn: unique symbol };

/** Takes a name that the administrator or the directory has written. */
export function trustedDn(dn: string): DistinguishedName {
  return dn as DistinguishedName;
}

/**
 * The name of an entry below another, its value escaped. The value must have
 * passed a name pattern: the library leaves NUL as it is.
 */
export function childOf(
  parent: DistinguishedName,
  rdn: { readonly attribute: string; readonly value: string },
): DistinguishedName {
  const own = new DN({ [rdn.attribute]: rdn.value }).toString();
  return `${own},${parent}` as DistinguishedName;
}

/** Whether an entry lies below another, by the spelling of their names. */
export function isBelow(dn: string, ancestor: DistinguishedName): boolean {
  return dn.toLowerCase().endsWith(`,${ancestor.toLowerCase()}`);
}

/** Nearly every name is in that form already. */
const NORMAL = /^[a-z0-9=,._-]*$/;

/**
 * A name in a form that is equal for equal names, as far as FreeIPA's names
 * go: without regard to case, and without space round separators.
 */
export function normalizeDn(dn: string): string {
  return NORMAL.test(dn) ? dn : dn.toLowerCase().replace(/ *([,=+]) */g, '$1');
}

/**
 * The value of a name's first component, unescaped (RFC 4514 §2.4):
 * `trust admins` of `cn=trust admins,cn=groups,…`.
 */
export function rdnValueOf(dn: string): string | undefined {
  const escaped = /^[^=]+=((?:[^,+\\]|\\.)*)/.exec(dn)?.[1];
  if (escaped === undefined) {
    return undefined;
  }
  const bytes = escaped.replace(/(?:\\[0-9a-f]{2})+/gi, pairs =>
    Buffer.from(pairs.replaceAll('\\', ''), 'hex').toString(),
  );
  return bytes.replace(/\\(.)/g, '$1');
}

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
