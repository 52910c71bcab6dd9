import { isAbsolute, normalize } from 'node:path';
import type { Config } from '@backstage/config';

/**
 * The `kerberos` block of the configuration.
 *
 * @public
 */
export interface KerberosConfig {
  /** Absolute path of the keytab. Default: the file in `KRB5_KTNAME`, else `/etc/krb5.keytab`. */
  readonly keytab?: string;
  /**
   * The portal's own realm, whose principals are accepted. Default: the realm of the `HTTP/` keys in
   * the keytab, if there is only one.
   */
  readonly realm?: string;
  /** Realms whose principals are accepted in addition to those of the portal's own realm. */
  readonly realms: readonly string[];
}

const REALM = /^[^\s@]+$/;

/**
 * Reads the `kerberos` block. Every key is optional.
 *
 * @param config - the root of the configuration
 * @returns a frozen object
 * @throws Error that names the offending key
 * @public
 */
export function readKerberosConfig(config: Config): KerberosConfig {
  const keytab = config.getOptionalString('kerberos.keytab');
  const realm = config.getOptionalString('kerberos.realm');
  const realms = config.getOptionalStringArray('kerberos.realms') ?? [];
  if (keytab !== undefined && !isAbsolute(keytab)) {
    throw new Error(
      `kerberos.keytab must be an absolute path, not '${keytab}'`,
    );
  }
  if (realm !== undefined && !REALM.test(realm)) {
    throw new Error(
      `kerberos.realm must be a name such as EXAMPLE.TEST, not '${realm}'`,
    );
  }
  const invalidRealm = realms.find(listed => !REALM.test(listed));
  if (invalidRealm !== undefined) {
    throw new Error(
      `kerberos.realms must list names such as EXAMPLE.TEST, not '${invalidRealm}'`,
    );
  }
  return Object.freeze({
    ...(keytab !== undefined && { keytab: normalize(keytab) }),
    ...(realm !== undefined && { realm }),
    realms: Object.freeze([...realms]),
  });
}
