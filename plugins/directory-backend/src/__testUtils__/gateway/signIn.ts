import assert from 'node:assert/strict';
import type { Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Gateway } from './startGateway';

const run = promisify(execFile);

/** Body of a successful or denied sign-in. */
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

/** Returns the portal token of the guest provider's user. */
export async function guestToken({
  baseUrl,
}: Pick<Gateway, 'baseUrl'>): Promise<string> {
  const response = await fetch(`${baseUrl}/api/auth/guest/refresh`, {
    headers: { 'X-Requested-With': 'XMLHttpRequest' },
  });
  const { backstageIdentity } = await response.json();
  return backstageIdentity.token;
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

/** Returns the portal token of a principal with a ticket. */
export async function tokenByTicket(
  gateway: Pick<Gateway, 'baseUrl'>,
  options: { readonly realm: Realm; readonly principal: string },
): Promise<string> {
  const { realm, principal } = options;
  const { status, body } = await refreshByTicket(gateway, {
    krb5Config: realm.krb5Config,
    ccache: await realm.ticket(principal),
  });
  assert(body.backstageIdentity, `Sign-in failed with status ${status}`);
  return body.backstageIdentity.token;
}
