export interface Config {
  /**
   * Kerberos authentication (SPNEGO). The keytab is the file with this server's Kerberos keys; its
   * principals have the form `HTTP/<host name>`. All settings are optional.
   *
   * @example
   * ```yaml
   * kerberos:
   *   keytab: /etc/portal/http.keytab
   *   realm: EXAMPLE.ORG
   *   realms: [AD.EXAMPLE.ORG]
   * ```
   */
  kerberos?: {
    /**
     * Absolute path of the keytab, read for each token. If `KRB5_KTNAME` is set too, both must name
     * the same file. Default: the file in `KRB5_KTNAME`, else `/etc/krb5.keytab`.
     */
    keytab?: string;

    /**
     * Realm of the portal, whose principals are accepted. Required when the
     * keytab contains `HTTP/` keys for several realms. Default: the realm of
     * these keys.
     */
    realm?: string;

    /**
     * Other realms whose principals are accepted. Requires a trust between the
     * realms, or a key of that realm in the keytab.
     * @default []
     */
    realms?: string[];
  };
}
