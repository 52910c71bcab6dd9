import { dirname, join } from 'node:path';

/**
 * Formats the first steps with a portal that has just started: a call for
 * another terminal, and the principals of the realm.
 */
export function firstCall({ PORT, PORTAL_URL, KRB5_CONFIG, KEYTAB }) {
  // In a folder that the realm removes when it stops.
  const ticket = join(dirname(KRB5_CONFIG), 'ticket');
  return `
The portal is ready at ${PORTAL_URL}. Choose "Enter as Alice (demo)" to sign in.

The first call, in another terminal:

  export KRB5_CONFIG=${KRB5_CONFIG} KRB5CCNAME=${ticket} KEYTAB=${KEYTAB}
  kinit -k -t "$KEYTAB" alice
  curl --negotiate -u : http://localhost:${PORT}/api/directory/v1/me/

Chromium signs in to the portal with the same ticket:

  chromium --auth-server-allowlist=localhost ${PORTAL_URL}

Principals for kinit:

  alice                       an ordinary user
  bob                         a user with a private profile
  bot/builder.example.test    a service
  host/build1.example.test    a host
  admin                       an administrator without an account in the Fedora Account System
  carol                       a user whose account is locked
  eve                         a user whose account has expired

Ctrl-C stops the portal and the realm.
`;
}
