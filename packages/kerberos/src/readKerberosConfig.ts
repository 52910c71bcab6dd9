import { isAbsolute, normalize } from 'node:path';
import type { Config } from '@backstage/config';

/**
 * The `kerberos` block of the configuration.
 *
 * @public
 */
export interface KerberosConfig {
  /**
   * Absolute path of the keytab. Default: the file that the environment's `KRB5_KTNAME` names,
   * else `/etc/krb5.keytab`.
   */
  readonly keytab?: string;
  /**
   * The portal's own realm, whose principals are accepted. Default: the realm of the `HTTP/` keys
   * in the keytab, if there is only one.
   */
  readonly realm?: string;
  /** Realms whose principals are accepted in addition to those of the portal's own realm. */
  readonly realms: readonly string[];
  /** The longest accepted token, in bytes before base64. Default 65536. */
  readonly maxTokenBytes: number;
}

/**
 * 64 KiB: what Windows allows a ticket with its group memberships to grow to (`MaxTokenSize` is
 * 48,000 bytes by default, 65,535 at most).
 */
export const DEFAULT_MAX_TOKEN_BYTES = 65_536;

const REALM = /^[^\s@]+$/;

/** Beyond this a header costs more to receive than any ticket can be worth. */
const LARGEST_MAX_TOKEN_BYTES = 1_048_576;

/**
 * Reads the `kerberos` block. All of it is optional.
 *
 * @param config - the root of the configuration
 * @returns a frozen object
 * @throws Error that names the offending key
 * @public
 */
export function readKerberosConfig(config: Config): KerberosConfig {
  const keytab = config.getOptionalString('kerberos.keytab');
  if (keytab !== undefined && !isAbsolute(keytab)) {
    throw new Error(
      `kerberos.keytab must be an absolute path, not '${keytab}'`,
    );
  }
  const realm = config.getOptionalString('kerberos.realm');
  if (realm !== undefined && !REALM.test(realm)) {
    throw new Error(
      `kerberos.realm must be a name such as EXAMPLE.TEST, not '${realm}'`,
    );
  }
  const realms = config.getOptionalStringArray('kerberos.realms') ?? [];
  for (const listed of realms) {
    if (!REALM.test(listed)) {
      throw new Error(
        `kerberos.realms must list names such as EXAMPLE.TEST, not '${listed}'`,
      );
    }
  }
  const maxTokenBytes =
    config.getOptionalNumber('kerberos.maxTokenBytes') ??
    DEFAULT_MAX_TOKEN_BYTES;
  if (
    !Number.isInteger(maxTokenBytes) ||
    maxTokenBytes < 1 ||
    maxTokenBytes > LARGEST_MAX_TOKEN_BYTES
  ) {
    throw new Error(
      `kerberos.maxTokenBytes must be a whole number from 1 to ${LARGEST_MAX_TOKEN_BYTES}, not ${maxTokenBytes}`,
    );
  }
  return Object.freeze({
    ...(keytab !== undefined && { keytab: normalize(keytab) }),
    ...(realm !== undefined && { realm }),
    realms: Object.freeze([...realms]),
    maxTokenBytes,
  });
}
