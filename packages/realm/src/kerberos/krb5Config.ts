import { REALM, type RealmLayout } from '../RealmLayout';

/**
 * What libkrb5 needs to find this realm and nothing else: no DNS (and no
 * search domain glued to `localhost`, MIT krb5 1.18), TCP first, and caches in
 * the realm's own folder, so that a plain `kinit` neither overwrites the
 * user's tickets nor leaves any behind.
 */
export function krb5Config(
  layout: RealmLayout,
  kdcPort: number,
  realm = REALM,
): string {
  return `[libdefaults]
  default_realm = ${realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  qualify_shortname = ""
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = 7d
  default_ccache_name = FILE:${layout.dir}/krb5cc_%{uid}
  default_rcache_name = file2:${layout.dir}/rcache_%{uid}

[realms]
  ${realm} = {
    kdc = 127.0.0.1:${kdcPort}
  }

[domain_realm]
  localhost = ${realm}
  .example.test = ${realm}
`;
}

/**
 * The KDC's own configuration; `kdcPort` is where it listens, on loopback only.
 * It keeps no account of logins: each would wait for the disk.
 */
export function kdcConfig(
  layout: RealmLayout,
  kdcPort: number,
  realm = REALM,
): string {
  return `[realms]
  ${realm} = {
    database_module = file
    key_stash_file = ${layout.kdc}/stash
    master_key_type = aes256-cts-hmac-sha1-96
    supported_enctypes = aes256-cts-hmac-sha1-96:normal
    default_principal_flags = +preauth
    max_life = 7d
    kdc_listen = 127.0.0.1:${kdcPort}
    kdc_tcp_listen = 127.0.0.1:${kdcPort}
  }

[dbmodules]
  file = {
    db_library = db2
    database_name = ${layout.kdc}/principal
    disable_last_success = true
    disable_lockout = true
  }

[logging]
  kdc = FILE:${layout.kdc}/kdc.log
`;
}

/** The environment in which the KDC and its tools read the files above. */
export function kdcEnvironment(layout: RealmLayout): Record<string, string> {
  return {
    KRB5_CONFIG: layout.krb5Config,
    KRB5_KDC_PROFILE: layout.kdcConfig,
  };
}
