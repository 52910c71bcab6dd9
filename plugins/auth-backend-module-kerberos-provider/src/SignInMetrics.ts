import { metrics } from '@opentelemetry/api';

/** How a request to sign in ended. */
export type SignInOutcome =
  | { readonly outcome: 'signed_in' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'failed' };

/**
 * Counts sign-ins and renewals by their outcome and, of refusals, their reason;
 * never by a name.
 */
export class SignInMetrics {
  readonly #count = metrics
    .getMeter('directory-gateway.kerberos-sign-in')
    .createCounter('kerberos.sign_in.count', {
      description: 'Sign-ins and renewals with a Kerberos ticket',
      unit: '{sign_in}',
    });

  record(outcome: SignInOutcome): void {
    this.#count.add(1, { ...outcome });
  }
}
