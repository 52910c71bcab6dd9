import { resolve } from 'node:path';

/** Where MIT Kerberos and every distribution's tools put a host's keys. */
const DEFAULT_KEYTAB = '/etc/krb5.keytab';

/**
 * Settles which keytab this process accepts tickets with, and makes sure that the replay cache is
 * on. The Kerberos library takes both from the environment and from nowhere else.
 *
 * The environment belongs to the whole process, and the library reads it from its own threads
 * while it works on a token. So the variable is set once, before the first token, and a second
 * keytab in the same process is refused rather than made to win or lose by chance.
 *
 * `default_keytab_name` in `krb5.conf` is not consulted.
 *
 * @param options - `keytab` is an absolute path; default: the file that `KRB5_KTNAME` names, else
 * `/etc/krb5.keytab`. `env` is for tests.
 * @returns the path of the keytab; afterwards `KRB5_KTNAME` names it
 * @throws Error when `KRB5_KTNAME` already names another keytab, or one that is no file, or when
 * the environment switches the replay cache off
 */
export function claimKerberosEnvironment(options: {
  keytab?: string;
  env?: NodeJS.ProcessEnv;
}): string {
  const env = options.env ?? process.env;
  if ((env.KRB5RCACHENAME ?? env.KRB5RCACHETYPE)?.split(':')[0] === 'none') {
    throw new Error(
      'KRB5RCACHENAME or KRB5RCACHETYPE in the environment switches the Kerberos replay cache off, ' +
        'so that an overheard token could be used again. Unset it.',
    );
  }
  const named = env.KRB5_KTNAME ? fileOf(env.KRB5_KTNAME) : undefined;
  const keytab = options.keytab ?? named ?? DEFAULT_KEYTAB;
  if (named && named !== keytab) {
    throw new Error(
      `kerberos.keytab is ${keytab}, but KRB5_KTNAME in the environment of this process already ` +
        `names ${named}. One process can accept tickets with one keytab only: set one of the two.`,
    );
  }
  env.KRB5_KTNAME = `FILE:${keytab}`;
  return keytab;
}

/** Keytabs are named `TYPE:residual`; without a type they are files. */
function fileOf(name: string): string {
  const [, type = 'FILE', residual] = /^(?:([A-Za-z]+):)?(.*)$/s.exec(name)!;
  if (type !== 'FILE' && type !== 'WRFILE') {
    throw new Error(
      `KRB5_KTNAME is ${name}: only a keytab in a file is supported (FILE:/path).`,
    );
  }
  return resolve(residual);
}
