import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * The certificate authority (CA) `freeipa`: FreeIPA signs.
       * `directory.certificates.authority: freeipa` selects it.
       */
      freeipa?: {
        /**
         * FreeIPA servers with a CA, tried in this order, for example
         * `https://ipa1.example.org`. Use the servers' own names: FreeIPA
         * rejects requests to an alias.
         */
        servers: string[];
        /**
         * PEM file of the CAs to trust instead of the system's, read for each
         * request. FreeIPA's is `/etc/ipa/ca.crt`. Required unless
         * `trustSystemCas` is set.
         */
        caFile?: string;
        /**
         * Trusts the system's CAs instead of `caFile`. Any public CA can then
         * certify a server that receives the gateway's login. Default: false.
         */
        trustSystemCas?: boolean;
        /** FreeIPA's name of the CA that signs. Default: ipa. */
        cacn?: string;
        /**
         * The gateway's account, with a Kerberos key (`principal`, `keytab`) or
         * a password (`username`, `passwordFile`).
         */
        login: {
          /** For example `HTTP/portal.example.org@EXAMPLE.ORG`. */
          principal?: string;
          /**
           * Absolute path of a keytab with the principal's key, read for each
           * new ticket. A process can use only one: the Kerberos library reads
           * it from `KRB5_CLIENT_KTNAME`. Default: the tickets or the keytab of
           * the environment.
           */
          keytab?: string;
          /** Name of a FreeIPA user. */
          username?: string;
          /** Absolute path of a file with the password, read for each login. */
          passwordFile?: string;
        };
        /**
         * Maximum time to connect, including the TLS handshake. Default: 5
         * seconds.
         */
        connectTimeout?: HumanDuration | string;
        /**
         * Maximum duration of a request to a server, including the response.
         * The first call after a restart of FreeIPA takes about 9.5 seconds.
         * Default: 30 seconds.
         */
        requestTimeout?: HumanDuration | string;
        /**
         * Maximum duration of the search for a certificate whose response was
         * lost, including all its requests. A FreeIPA server that
         * stops responding delays a request for a certificate by at most
         * `requestTimeout` + `lostResponseSearch`. Default: 10 seconds.
         */
        lostResponseSearch?: HumanDuration | string;
      };
    };
  };
}
