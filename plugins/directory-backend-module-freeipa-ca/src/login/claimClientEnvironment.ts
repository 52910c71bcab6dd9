/** Tickets live and die with the process; nothing is written to a disk. */
const TICKET_CACHE = 'MEMORY:directory-freeipa-ca';

/**
 * Tells the Kerberos library of this process which keytab to get tickets with.
 * It takes that from the environment and from nowhere else: with
 * `KRB5_CLIENT_KTNAME` the library gets a ticket when one is needed, renews it
 * at half its life, and keeps it in the cache that `KRB5CCNAME` names (MIT
 * Kerberos documentation, "keytab", "Default client keytab").
 *
 * The environment belongs to the whole process and is read by the library's
 * threads, so it is set once, before the first login. Accepting tickets is not
 * touched by it: that is `KRB5_KTNAME`. A cache that the environment already
 * names is kept.
 *
 * @param options - `keytab` is an absolute path; `env` is for tests.
 * @throws Error when the environment already names another client keytab.
 */
export function claimClientEnvironment(options: {
  readonly keytab: string;
  readonly env?: NodeJS.ProcessEnv;
}): void {
  const env = options.env ?? process.env;
  const keytab = `FILE:${options.keytab}`;
  const named = env.KRB5_CLIENT_KTNAME;
  if (named && named !== keytab && named !== options.keytab) {
    throw new Error(
      `directory.certificates.freeipa.login.keytab is ${options.keytab}, but KRB5_CLIENT_KTNAME ` +
        `in the environment of this process already names ${named}. One process can get tickets ` +
        'with one keytab only: set one of the two.',
    );
  }
  env.KRB5_CLIENT_KTNAME = keytab;
  env.KRB5CCNAME ||= TICKET_CACHE;
}
