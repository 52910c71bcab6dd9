import { request } from 'node:http';
import type { ClientResponse } from './GatewayClient';
import type { Gateway } from './startGateway';

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

/** Returns the status of `/me/` with a cookie header; faster than curl. */
export function statusWithCookie(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  cookie: string,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${baseUrl}/api/directory/v1/me/`, { headers: { cookie } })
      .on('response', response => {
        response.resume();
        resolve(response.statusCode);
      })
      .on('error', reject)
      .end();
  });
}
