import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * Clock skew that Kerberos, and therefore every caller, tolerates (RFC 4120
 * §1.6).
 */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/**
 * Returns the start of validity of data that is signed now: 5 minutes earlier,
 * for clients whose clocks are behind.
 *
 * @param now - milliseconds since 1970
 */
export function backdated(now: number): Date {
  return new Date(now - CLOCK_SKEW_MS);
}

/**
 * Returns the validity of a certificate that is signed now, in whole seconds
 * (RFC 5280 §4.1.2.5) and within that of the issuer's chain, which is valid
 * only while all of its certificates are.
 *
 * @throws AuthorityUnavailableError when the issuer's chain is not valid.
 */
export function validityOf(options: {
  readonly validityMs: number;
  readonly issuer: { readonly notBefore: number; readonly notAfter: number };
  readonly now: number;
}): { readonly notBefore: Date; readonly notAfter: Date } {
  const { now, issuer, validityMs } = options;
  const notBefore = wholeSecond(
    Math.max(backdated(now).getTime(), issuer.notBefore),
  );
  const notAfter = wholeSecond(Math.min(now + validityMs, issuer.notAfter));
  if (now > issuer.notAfter || notBefore >= notAfter) {
    throw new AuthorityUnavailableError(
      `The CA is valid from ${dateOf(issuer.notBefore)} to ${dateOf(
        issuer.notAfter,
      )}`,
    );
  }
  return { notBefore, notAfter };
}

function wholeSecond(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}

function dateOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
