import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
import type { SigningAuthority } from '../authority/SigningAuthority';
import { backdated } from '../authority/backdated';
import type { CertificateProfile } from './CertificateProfile';

/**
 * When a certificate that is signed now is valid, in whole seconds as
 * certificates have it (RFC 5280 §4.1.2.5). Never outside of the authority's
 * own time: a chain is valid only while all of it is.
 *
 * @throws AuthorityUnavailableError when the authority's time is over.
 */
export function validityOf(
  { validityMs }: CertificateProfile,
  options: { readonly now: number; readonly authority: SigningAuthority },
): { readonly notBefore: Date; readonly notAfter: Date } {
  const { now, authority } = options;
  const own = authority.issuer.certificate;
  const notBefore = wholeSecond(
    Math.max(backdated(now).getTime(), own.notBefore),
  );
  const notAfter = wholeSecond(Math.min(now + validityMs, own.notAfter));
  if (now > own.notAfter || notBefore >= notAfter) {
    throw new AuthorityUnavailableError(
      `The authority's own certificate is valid from ${own.validNotBefore} to ${own.validNotAfter}`,
    );
  }
  return { notBefore, notAfter };
}

function wholeSecond(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}
