import { isError } from '@backstage/errors';
import { metrics } from '@opentelemetry/api';

/**
 * Outcome of a request to a certificate authority.
 *
 * @public
 */
export type AuthorityOutcome =
  | 'success'
  | 'not_found'
  | 'refused'
  | 'unavailable'
  | 'outcome_unknown'
  | 'protocol_error'
  /** The client disconnected. */
  | 'aborted'
  | 'error';

const ERROR_OUTCOMES: Readonly<Record<string, AuthorityOutcome>> = {
  AuthorityRefusalError: 'refused',
  AuthorityUnavailableError: 'unavailable',
  OutcomeUnknownError: 'outcome_unknown',
  AuthorityProtocolError: 'protocol_error',
  AbortError: 'aborted',
  TimeoutError: 'unavailable',
};

/**
 * Records the histogram `directory.ca.request.duration` in seconds, with the
 * attributes `authority`, `operation` and `outcome`. Attributes never contain
 * users or certificates.
 *
 * @public
 */
export class AuthorityMetrics {
  readonly #authority: string;
  readonly #durations = metrics
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

  /** @param authority - registered name of the CA, for example `freeipa` */
  constructor(authority: string) {
    this.#authority = authority;
  }

  /** Runs an operation and records its duration. */
  async measure<T>(
    operation: 'sign' | 'get' | 'revoke' | 'hold' | 'release',
    work: () => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    let outcome: AuthorityOutcome = 'error';
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
      this.#durations.record((performance.now() - startedAt) / 1000, {
        authority: this.#authority,
        operation,
        outcome,
      });
    }
  }
}
