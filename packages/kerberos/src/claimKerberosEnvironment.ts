import { resolve } from 'node:path';

/** Location of a host's keys in MIT Kerberos and every distribution. */
const DEFAULT_KEYTAB = '/etc/krb5.keytab';

/**
 * Sets the keytab of this process, and checks that the replay cache is enabled. The Kerberos library
 * reads both from the environment only.
 *
 * The environment belongs to the whole process, and the library reads it in its
 * own threads while it processes a token. The variable is therefore set once,
 * before the first token, and a second keytab in the same process is an error.
 *
 * `default_keytab_name` in `krb5.conf` is ignored.
 *
 * @param options - `keytab` is an absolute path; default: the file in `KRB5_KTNAME`, else
 * `/etc/krb5.keytab`. `env`: default `process.env`.
 * @returns the path of the keytab, which `KRB5_KTNAME` names from then on
 * @throws Error when `KRB5_KTNAME` already names another keytab, or one that is not a file, or when
 * the environment disables the replay cache
 * @public
 */
export function claimKerberosEnvironment(options: {
  keytab?: string;
  env?: NodeJS.ProcessEnv;
}): string {
  const env = options.env ?? process.env;
  if ((env.KRB5RCACHENAME ?? env.KRB5RCACHETYPE)?.split(':')[0] === 'none') {
    throw new Error(
      'KRB5RCACHENAME or KRB5RCACHETYPE in the environment disables the Kerberos replay cache, ' +
        'so that an intercepted token could be used again. Unset it.',
    );
  }
  const named = env.KRB5_KTNAME ? fileOf(env.KRB5_KTNAME) : undefined;
  const keytab = options.keytab ?? named ?? DEFAULT_KEYTAB;
  if (named && named !== keytab) {
    throw new Error(
      `kerberos.keytab is ${keytab}, but KRB5_KTNAME in the environment of this process is ${named}. ` +
        `A process can use only one keytab: unset one of the two.`,
    );
  }
  env.KRB5_KTNAME = `FILE:${keytab}`;
  return keytab;
}

/** A keytab's name is `TYPE:residual`; the default type is FILE. */
function fileOf(name: string): string {
  const [, type = 'FILE', residual] = /^(?:([A-Za-z]+):)?(.*)$/s.exec(name)!;
  if (type !== 'FILE' && type !== 'WRFILE') {
    throw new Error(
      `KRB5_KTNAME is ${name}: only a keytab in a file is supported (FILE:/path).`,
    );
  }
  return resolve(residual);
}
