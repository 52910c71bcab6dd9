import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory?: {
    certificates?: {
      /**
       * FreeIPA as a certificate authority, by the name `freeipa`. Without it
       * this module does nothing.
       */
      freeipa?: {
        /**
         * The FreeIPA servers that have a CA, tried in this order:
         * `https://ipa1.example.org`. Each by the server's own name: FreeIPA
         * refuses requests to an alias.
         */
        servers: string[];
        /**
         * PEM file of the CAs to trust in place of the system's, read for each
         * request. FreeIPA's is `/etc/ipa/ca.crt`. Required unless
         * `trustSystemCas` is set.
         */
        caFile?: string;
        /**
         * Trusts the system's CAs, in place of `caFile`. Any public CA can then
         * vouch for a server that receives the gateway's login. Default: false.
         */
        trustSystemCas?: boolean;
        /** FreeIPA's name of the CA that signs. Default: ipa. */
        cacn?: string;
        /**
         * How the gateway logs in: with a Kerberos key (`principal`, `keytab`)
         * or with a password (`username`, `passwordFile`).
         */
        login: {
          /** For example `HTTP/portal.example.org@EXAMPLE.ORG`. */
          principal?: string;
          /**
           * Keytab with the principal's key, read for each new ticket. One
           * process can log in to Kerberos with one such keytab only: it is
           * handed to the Kerberos library in `KRB5_CLIENT_KTNAME`. Default:
           * the tickets or the keytab that the environment names.
           */
          keytab?: string;
          /** Name of a FreeIPA user. */
          username?: string;
          /** File that holds the user's password, read for each login. */
          passwordFile?: string;
        };
        /**
         * Maximum time to connect, including the TLS handshake. Default: 5
         * seconds.
         */
        connectTimeout?: HumanDuration | string;
        /**
         * Maximum duration of one request to one server, response included. The
         * first call after a restart of FreeIPA takes about 9.5 seconds.
         * Default: 30 seconds.
         */
        requestTimeout?: HumanDuration | string;
        /**
         * Maximum duration of the search for a certificate whose response was
         * lost, all requests of the search included. A FreeIPA server that
         * stops responding delays a request for a certificate by at most
         * `requestTimeout` + `lostResponseSearch`. Default: 10 seconds.
         */
        lostResponseSearch?: HumanDuration | string;
      };
    };
  };
}
