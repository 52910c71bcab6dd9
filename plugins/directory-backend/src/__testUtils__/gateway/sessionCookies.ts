import type { ClientResponse } from './GatewayClient';

/** Name of the session cookie when the portal has an http URL. */
export const SESSION_COOKIE = 'directory-session';

/** Returns the name and value of the only cookie in a response. */
export function sessionIn({ headers }: ClientResponse): string {
  const [cookie, ...others] = headers.getSetCookie();
  expect(others).toEqual([]);
  return cookie.split(';')[0];
}

/** Returns the options of a request with these cookies. */
export function withCookie(...cookies: string[]) {
  return { headers: { Cookie: cookies.join('; ') } };
}

/** Returns the parts of a response that depend on the credentials. */
export function credentialsOutcome({ status, headers, json }: ClientResponse) {
  const { reason } = json as { readonly reason?: string };
  return { status, reason, challenge: headers.get('www-authenticate') };
}

/** Result of {@link credentialsOutcome} for a request without credentials. */
export const NO_CREDENTIALS = {
  status: 401,
  reason: 'no_credentials',
  challenge: 'Negotiate',
};
