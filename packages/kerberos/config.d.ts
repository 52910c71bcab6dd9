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
     * Realms whose principals are accepted beside those of the service key's own realm. Default:
     * none. A trust between the realms is not enough, and necessary.
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
