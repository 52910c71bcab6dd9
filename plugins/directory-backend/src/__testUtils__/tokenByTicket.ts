import type { Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Gateway } from './startGateway';

const run = promisify(execFile);

/** The portal token that the Kerberos sign-in gives for a principal's ticket. */
export async function tokenByTicket(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  options: { readonly realm: Realm; readonly principal: string },
): Promise<string> {
  const { realm, principal } = options;
  const { stdout } = await run(
    'curl',
    [
      ...['--silent', '--show-error', '--negotiate', '--user', ':'],
      ...['--header', 'X-Requested-With: XMLHttpRequest'],
      `${baseUrl}/api/auth/kerberos/refresh`,
    ],
    {
      env: {
        ...process.env,
        KRB5_CONFIG: realm.krb5Config,
        KRB5CCNAME: await realm.ticket(principal),
      },
    },
  );
  return JSON.parse(stdout).backstageIdentity.token;
}
