import type { SigningOrder } from '../../certificates/CertificateDesk';
import { InvalidRequestError } from '../response/apiErrors';

const WHERE =
  'Missing required parameter in the JSON body or the post body or the query string';

/**
 * Reads the parameters of `POST /certs/` (contract, section 4.4), and
 * `dry_run`, which asks for the verdict without a signature.
 *
 * @throws InvalidRequestError that names each parameter that is missing.
 */
export function parseSigningOrder(
  parameters: ReadonlyMap<string, string>,
  options: { readonly defaultProfile: string },
): { readonly order: SigningOrder; readonly isDryRun: boolean } {
  const username = parameters.get('user');
  const csr = parameters.get('csr');
  if (username === undefined || csr === undefined) {
    throw new InvalidRequestError({
      message: 'Input payload validation failed',
      errors: {
        ...(username === undefined ? { user: `User name. ${WHERE}` } : {}),
        ...(csr === undefined
          ? { csr: `Certificate Signing Request. ${WHERE}` }
          : {}),
      },
    });
  }
  const profile = parameters.get('profile') ?? options.defaultProfile;
  return {
    order: { username, csr, profile },
    isDryRun: parameters.get('dry_run') === 'true',
  };
}
