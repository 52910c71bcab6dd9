import { DN } from 'ldapts';

/**
 * Distinguished name (RFC 4514) that is safe to send: from the configuration,
 * from the directory, or built by {@link childOf}.
 */
export type DistinguishedName = string & { readonly __dn: unique symbol };

/** Marks a DN from the configuration or the directory as safe to send. */
export function trustedDn(dn: string): DistinguishedName {
  return dn as DistinguishedName;
}

/**
 * Returns the DN of an entry below another entry, with the value escaped. The
 * value must match a name pattern: ldapts does not escape NUL.
 */
export function childOf(
  parent: DistinguishedName,
  rdn: { readonly attribute: string; readonly value: string },
): DistinguishedName {
  const own = new DN({ [rdn.attribute]: rdn.value }).toString();
  return trustedDn(`${own},${parent}`);
}

/** Returns whether a DN is below another DN. Spaces are significant. */
export function isBelow(dn: string, ancestor: DistinguishedName): boolean {
  return dn.toLowerCase().endsWith(`,${ancestor.toLowerCase()}`);
}

/** Matches normalized DNs; nearly every DN is one. */
const NORMALIZED = /^[a-z0-9=,._-]*$/;

/**
 * Normalizes a DN so that equal names of FreeIPA have equal strings: lower
 * case, without spaces around separators.
 */
export function normalizeDn(dn: string): string {
  return NORMALIZED.test(dn)
    ? dn
    : dn.toLowerCase().replace(/ *([,=+]) */g, '$1');
}

/**
 * Returns the unescaped value of the first component of a DN (RFC 4514 §2.4):
 * `trust admins` for `cn=trust admins,cn=groups,…`.
 */
export function rdnValueOf(dn: string): string | undefined {
  const escaped = /^[^=]+=((?:[^,+\\]|\\.)*)/.exec(dn)?.[1];
  return escaped
    ?.replace(/(?:\\[0-9a-f]{2})+/gi, pairs =>
      Buffer.from(pairs.replaceAll('\\', ''), 'hex').toString(),
    )
    .replace(/\\(.)/g, '$1');
}

/** Containers of FreeIPA's directory tree. */
export interface Containers {
  /** Parent of the containers of users, groups, services and hosts. */
  readonly accounts: DistinguishedName;
  readonly users: DistinguishedName;
  readonly groups: DistinguishedName;
  /** Agreements of freeipa-fas. */
  readonly agreements: DistinguishedName;
}

/** Returns the containers of FreeIPA's directory tree below a suffix. */
export function containersBelow(baseDn: string): Containers {
  const accounts = `cn=accounts,${baseDn}`;
  return Object.freeze({
    accounts: trustedDn(accounts),
    users: trustedDn(`cn=users,${accounts}`),
    groups: trustedDn(`cn=groups,${accounts}`),
    agreements: trustedDn(`cn=fasagreements,${baseDn}`),
  });
}
