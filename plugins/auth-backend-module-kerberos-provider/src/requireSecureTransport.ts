import { InputError } from '@backstage/errors';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Tickets and tokens do not travel in the clear: the portal is reached by
 * https, or by http on this machine only.
 *
 * @throws InputError that names the key to change
 */
export function requireSecureTransport(baseUrl: string): void {
  const { protocol, hostname } = new URL(baseUrl);
  if (
    protocol !== 'https:' &&
    !(protocol === 'http:' && LOOPBACK.test(hostname))
  ) {
    throw new InputError(
      'backend.baseUrl must be an https:// URL, or http:// on localhost',
    );
  }
}
