import { request } from 'node:http';
import type { Answer } from './GatewayClient';
import type { Gateway } from './startGateway';

/** What the cookie is called where the portal is reached by http. */
export const SESSION_COOKIE = 'directory-session';

/** The name and value of the only cookie in an answer. */
export function sessionIn({ headers }: Answer): string {
  const [cookie, ...others] = headers.getSetCookie();
  expect(others).toEqual([]);
  return cookie.split(';')[0];
}

/** A request with these cookies. */
export function withCookie(...cookies: string[]) {
  return { headers: { Cookie: cookies.join('; ') } };
}

/** What a program without a ticket needs to know. */
export function credentialsOutcome({ status, headers, json }: Answer) {
  const { reason } = json as { readonly reason?: string };
  return { status, reason, challenge: headers.get('www-authenticate') };
}

/** That of a request without any credentials. */
export const NOBODY = {
  status: 401,
  reason: 'no_credentials',
  challenge: 'Negotiate',
};

/** How it is answered who is calling, with this header; faster than by curl. */
export function statusWithCookie(
  { baseUrl }: Pick<Gateway, 'baseUrl'>,
  cookie: string,
): Promise<number | undefined> {
  const { port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    request({
      host: 'localhost',
      port,
      path: '/api/directory/v1/me/',
      headers: { cookie },
    })
      .on('response', response => {
        response.resume();
        resolve(response.statusCode);
      })
      .on('error', reject)
      .end();
  });
}
