import { GSS_MECH_OID_SPNEGO, initializeClient } from 'kerberos';
import { request } from 'undici';
import type { MeasuredPortal, RequestHeaders } from './MeasuredPortal';

/** How requests are authenticated. */
export const CREDENTIALS = ['session cookie', 'SPNEGO token'] as const;

/** How a request is authenticated. */
export type CredentialKind = (typeof CREDENTIALS)[number];

/** Authentication of a request. */
export interface Credential {
  /** User name of the caller in the directory. */
  readonly username: string;
  readonly headers: RequestHeaders;
}

/** Starts a session of 15 minutes for each user, with a SPNEGO token. */
export async function signIn(
  portal: MeasuredPortal,
  usernames: readonly string[],
): Promise<readonly Credential[]> {
  const url = `${portal.origin}/api/directory/v1/me/`;
  const credentials = await negotiate(portal, usernames);
  return Promise.all(
    credentials.map(async ({ username, headers }) => {
      // Not `fetch`, which sends Sec-Fetch-Mode as browsers do; they get no
      // cookie.
      const response = await request(url, { headers });
      const text = await response.body.text();
      const cookies = [response.headers['set-cookie'] ?? []].flat();
      if (cookies.length === 0) {
        throw new Error(`The portal did not set a cookie: ${text}`);
      }
      const cookie = cookies.map(line => line.split(';')[0]).join('; ');
      return { username, headers: { cookie } };
    }),
  );
}

let lastTokens: Promise<unknown> = Promise.resolve();

/**
 * Creates a SPNEGO token for each user name.
 *
 * A token is for one request: a server with a replay cache refuses a second use
 * (RFC 4120 §3.2.3). It expires after five minutes, and creating it takes
 * longer than a request. For this reason, the tokens of a round are created
 * right before it, while nothing is measured.
 */
export async function negotiate(
  { realm }: MeasuredPortal,
  usernames: readonly string[],
): Promise<readonly Credential[]> {
  const credentials: Credential[] = [];
  const created = lastTokens.then(async () => {
    process.env.KRB5_CONFIG = realm.krb5Config;
    for (const username of usernames) {
      // The Kerberos library reads it for each token.
      process.env.KRB5CCNAME = await realm.ticket(username);
      const mechOID = GSS_MECH_OID_SPNEGO;
      const client = await initializeClient('HTTP@localhost', { mechOID });
      const authorization = `Negotiate ${await client.step('')}`;
      credentials.push({ username, headers: { authorization } });
    }
  });
  lastTokens = created.catch(() => {});
  await created;
  return credentials;
}
