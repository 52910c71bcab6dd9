import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Gateway } from './startGateway';
import type { Realm } from '@directory-gateway/realm';

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

/** The portal token that the Kerberos sign-in gives for a principal's ticket. */
export async function tokenByTicket(
  gateway: Pick<Gateway, 'baseUrl'>,
  options: { readonly realm: Realm; readonly principal: string },
): Promise<string> {
  const { realm, principal } = options;
  const { status, body } = await refreshByTicket(gateway, {
    krb5Config: realm.krb5Config,
    ccache: await realm.ticket(principal),
  });
  assert(body.backstageIdentity, `The sign-in ended in ${status}`);
  return body.backstageIdentity.token;
}
