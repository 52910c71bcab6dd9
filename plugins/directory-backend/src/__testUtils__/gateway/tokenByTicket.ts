import assert from 'node:assert/strict';
import type { Realm } from '@directory-gateway/realm';
import { refreshByTicket } from './signIn';
import type { Gateway } from './startGateway';

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
