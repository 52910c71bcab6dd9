import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Gateway } from './startGateway';

const run = promisify(execFile);

/** The body of a successful sign-in, or of a refusal. */
interface SignInBody {
  readonly reason?: string;
  readonly backstageIdentity?: {
    readonly token: string;
    readonly identity: {
      readonly userEntityRef: string;
      readonly ownershipEntityRefs: readonly string[];
    };
  };
}

/** Signs in to the portal, or renews the portal token, with a ticket. */
export async function refreshByTicket(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  ticket: { readonly krb5Config: string; readonly ccache: string },
): Promise<{ readonly status: number; readonly body: SignInBody }> {
  const { stdout } = await run(
    'curl',
    [
      ...['--silent', '--show-error', '--negotiate', '--user', ':'],
      ...['--header', 'X-Requested-With: XMLHttpRequest'],
      ...['--write-out', '\n%{http_code}'],
      `${baseUrl}/api/auth/kerberos/refresh`,
    ],
    {
      env: {
        ...process.env,
        KRB5_CONFIG: ticket.krb5Config,
        KRB5CCNAME: ticket.ccache,
      },
    },
  );
  const end = stdout.lastIndexOf('\n');
  return {
    status: Number(stdout.slice(end)),
    body: JSON.parse(stdout.slice(0, end)),
  };
}
