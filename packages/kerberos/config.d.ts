export interface Config {
  /** Accepting Kerberos tickets. Every key is optional. */
  kerberos?: {
    /**
     * Absolute path of the keytab with the keys of this server's `HTTP/` principals.
     *
     * Default: the file in the environment variable `KRB5_KTNAME`, else `/etc/krb5.keytab`. If both
     * are set they must be equal: a process has one keytab. The file is read for every token:
     * replacing it needs no restart.
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
     * Maximum size of a token, in bytes before base64, 1 to 1048576. Default: 65536.
     *
     * HTTP servers and proxies must accept headers of that length; see `raiseHeaderLimit`.
     */
    maxTokenBytes?: number;
  };
}
