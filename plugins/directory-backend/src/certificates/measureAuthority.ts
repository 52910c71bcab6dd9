import { isError } from '@backstage/errors';
import type { CertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node';
import { metrics } from '@opentelemetry/api';

/** Outcomes by the name of the error; of other errors, `error`. */
const ERROR_OUTCOMES: Readonly<Record<string, string>> = {
  AuthorityRefusalError: 'refused',
  AuthorityUnavailableError: 'unavailable',
  OutcomeUnknownError: 'outcome_unknown',
  AuthorityProtocolError: 'protocol_error',
  // The client disconnected.
  AbortError: 'aborted',
  TimeoutError: 'unavailable',
};

/**
 * Returns a CA that records the histogram `directory.ca.request.duration` in
 * seconds, with the attributes `authority`, `operation` and `outcome`.
 * Attributes never contain users or certificates.
 *
 * @param name - registered name of the CA, for example `freeipa`
 */
export function measureAuthority(
  name: string,
  authority: CertificateAuthority,
): CertificateAuthority {
  const durations = metrics
    .getMeter('directory')
    .createHistogram('directory.ca.request.duration', {
      description: 'Duration of requests to a certificate authority',
      unit: 's',
      advice: {
        explicitBucketBoundaries: [
          0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
          10, 30,
        ],
      },
    });

  const measure = async (operation: string, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    let outcome = 'error';
    try {
      const result = await work();
      // A released certificate has no revocation.
      outcome =
        result === undefined && operation !== 'release'
          ? 'not_found'
          : 'success';
      return result;
    } catch (error) {
      outcome = (isError(error) && ERROR_OUTCOMES[error.name]) || 'error';
      throw error;
    } finally {
      const seconds = (performance.now() - startedAt) / 1000;
      durations.record(seconds, { authority: name, operation, outcome });
    }
  };

  // All methods of the port are operations of the CA.
  return new Proxy(authority, {
    get(target, property) {
      const value = Reflect.get(target, property, target);
      return typeof value === 'function'
        ? (...args: unknown[]) =>
            measure(String(property), () => value.apply(target, args))
        : value;
    },
  });
}
