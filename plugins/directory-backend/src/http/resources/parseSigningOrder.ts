import type { SigningOrder } from '../../certificates/IssuanceService';
import type { ParameterErrors } from '../request/ParameterErrors';
import { readText, type RequestParameters } from '../request/readParameters';

const MISSING =
  'Missing required parameter in the JSON body or the post body or the query string';

/**
 * Parses the parameters of `POST /certs/` (contract, section 4.4) and
 * `dry_run`, which requests the check results without a signature.
 */
export function parseSigningOrder(
  parameters: RequestParameters,
  options: {
    readonly defaultProfile: string;
    readonly errors: ParameterErrors;
  },
): { readonly order: SigningOrder; readonly isDryRun: boolean } {
  const { defaultProfile, errors } = options;
  const username = readText(parameters, 'user', errors);
  if (username === undefined) {
    errors.add('user', `User name. ${MISSING}`);
  }
  const csr = readText(parameters, 'csr', errors);
  if (csr === undefined) {
    errors.add('csr', `Certificate Signing Request. ${MISSING}`);
  }
  const profile = readText(parameters, 'profile', errors) ?? defaultProfile;
  return {
    order: { username: username ?? '', csr: csr ?? '', profile },
    isDryRun: parseDryRun(parameters, errors),
  };
}

/**
 * Any value but `true` and `false` is an error: a certificate must not be
 * signed because a client spells `true` differently.
 */
function parseDryRun(
  parameters: RequestParameters,
  errors: ParameterErrors,
): boolean {
  const text = readText(parameters, 'dry_run', errors);
  if (text !== undefined && text !== 'true' && text !== 'false') {
    errors.add('dry_run', 'Dry run. Must be true or false.');
  }
  return text === 'true';
}
