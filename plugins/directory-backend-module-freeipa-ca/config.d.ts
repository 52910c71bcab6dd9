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
         * The FreeIPA servers that have a CA, asked in this order:
         * `https://ipa1.example.org`. Each by the server's own name: FreeIPA
         * refuses requests that were made to an alias.
         */
        servers: string[];
        /**
         * PEM file of the authorities to trust in place of the system's, read
         * for each request. FreeIPA's is `/etc/ipa/ca.crt`.
         */
        caFile?: string;
        /** FreeIPA's name for the authority that signs. Default: ipa. */
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
        /** Time to connect and to secure the connection. Default: 5 seconds. */
        connectTimeout?: HumanDuration | string;
        /** Time for one request, answer included. Default: 30 seconds. */
        requestTimeout?: HumanDuration | string;
        /**
         * How long to look for a certificate after the answer to its request
         * was lost. Default: 10 seconds.
         */
        lostAnswerSearch?: HumanDuration | string;
      };
    };
  };
}
