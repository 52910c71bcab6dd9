import { dirname, join } from 'node:path';

/**
 * What a person does first with a portal that has just started: the first call
 * to paste into another terminal, and who one can be in the loopback realm.
 */
export function firstCall({ PORT, PORTAL_URL, KRB5_CONFIG, KEYTAB }) {
  // Beside the realm's own files, so that the ticket goes when the realm goes.
  const ticket = join(dirname(KRB5_CONFIG), 'ticket');
  return `
The portal is ready at ${PORTAL_URL} ("Enter as Alice" makes you alice).

The first call, in another terminal:

  export KRB5_CONFIG=${KRB5_CONFIG} KRB5CCNAME=${ticket} KEYTAB=${KEYTAB}
  kinit -k -t "$KEYTAB" alice
  curl --negotiate -u : http://localhost:${PORT}/api/directory/v1/me/

The same ticket opens the portal, where this browser is installed:

  chromium --auth-server-allowlist=localhost ${PORTAL_URL}

Whom kinit can make you:

  alice                       an ordinary person
  bob                         keeps a private profile
  bot/builder.example.test    a service
  host/build1.example.test    a host
  admin                       an administrator, unknown to the account system
  carol                       a locked account
  eve                         an expired account

Ctrl-C stops the portal and all that was started with it.
`;
}
