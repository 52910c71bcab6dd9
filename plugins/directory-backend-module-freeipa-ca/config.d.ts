export interface Config {
  directory?: {
    certificates?: {
      /**
       * FreeIPA's CA (certificate authority).
       * `directory.certificates.authority: freeipa` selects it. The login uses
       * a Kerberos key (`principal`, `keytab`) or a password (`username`,
       * `passwordFile`).
       *
       * @example
       * ```yaml
       * directory:
       *   certificates:
       *     authority: freeipa
       *     freeipa:
       *       servers:
       *         - https://ipa1.example.org
       *         - https://ipa2.example.org
       *       caFile: /etc/ipa/ca.crt
       *       login:
       *         principal: HTTP/portal.example.org@EXAMPLE.ORG
       *         keytab: /etc/portal/http.keytab
       * ```
       */
      freeipa?: {
        /**
         * URLs of FreeIPA servers with a CA, in order of preference. Use the
         * servers' own names: FreeIPA rejects requests to an alias.
         */
        servers: string[];
        /**
         * Absolute path of the PEM file of the trusted CAs, read for each
         * request. On FreeIPA hosts it is `/etc/ipa/ca.crt`.
         */
        caFile: string;
        /**
         * Name of the CA in FreeIPA.
         * @default ipa
         */
        cacn?: string;
        /** Account of the gateway in FreeIPA. */
        login: {
          /**
           * Principal with a Kerberos key. Required unless `username` is set.
           */
          principal?: string;
          /**
           * Absolute path of the keytab with the key of `principal`, read for
           * each new ticket. A process can use only one keytab, and one ticket
           * cache in memory, which replaces `KRB5CCNAME`. Default: the ticket
           * cache or keytab (`KRB5_CLIENT_KTNAME`) from the environment.
           */
          keytab?: string;
          /** Name of a FreeIPA user. Required unless `principal` is set. */
          username?: string;
          /**
           * Absolute path of the file with the password, read for each login.
           * Required when `username` is set.
           */
          passwordFile?: string;
        };
      };
    };
  };
}
