export interface Config {
  /** How Kerberos tickets are accepted. All of it is optional. */
  kerberos?: {
    /**
     * Absolute path of the keytab with the keys of this server's `HTTP/` principals.
     *
     * Default: the file that `KRB5_KTNAME` in the environment names, else `/etc/krb5.keytab`.
     * When both name a keytab they must agree, for there is one per process. The file is read for
     * every token: replacing it needs no restart.
     */
    keytab?: string;

    /**
     * The portal's own realm, for example `EXAMPLE.ORG`: its principals are accepted. Default: the
     * realm of the `HTTP/` keys in the keytab. Required when the keytab holds `HTTP/` keys of
     * several realms; until it is set, only principals of `realms` are accepted.
     */
    realm?: string;

    /**
     * Realms whose principals are accepted in addition to those of the portal's own realm. Default:
     * none. Also needs a trust between the realms, or a key of that realm in the keytab.
     */
    realms?: string[];

    /**
     * The longest accepted token, in bytes before base64, 1 to 1048576. Default: 65536.
     *
     * HTTP servers and proxies must let through headers of that length; see `raiseHeaderLimit`.
     */
    maxTokenBytes?: number;
  };
}
