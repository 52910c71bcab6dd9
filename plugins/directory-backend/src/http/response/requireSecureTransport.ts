import { InputError } from '@backstage/errors';
import { isLoopback } from '../../ldap/connection/isLoopback';

/**
 * Tickets, tokens and people's data do not travel in the clear: the portal is
 * reached by https, or by http on this machine only.
 *
 * @throws InputError that names the key to change.
 */
export function requireSecureTransport(url: string, key: string): void {
  const { protocol, hostname } = new URL(url);
  if (
    protocol !== 'https:' &&
    !(protocol === 'http:' && isLoopback(hostname))
  ) {
    throw new InputError(
      `The directory gateway needs https: set ${key} to an https:// URL, or to http:// on localhost`,
    );
  }
}
