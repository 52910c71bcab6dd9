import { metrics } from '@opentelemetry/api';
import { isError } from '@backstage/errors';

/** What became of a request to the authority. */
export type AuthorityOutcome =
  | 'success'
  | 'not_found'
  | 'refused'
  | 'unavailable'
  | 'outcome_unknown'
  | 'protocol_error';

const OUTCOMES: Readonly<Record<string, AuthorityOutcome>> = {
  AuthorityRefusalError: 'refused',
  AuthorityUnavailableError: 'unavailable',
  OutcomeUnknownError: 'outcome_unknown',
};

/**
 * How long requests to the authority take and how they end. Attributes name the
 * operation, never a user or a certificate.
 */
export class AuthorityMetrics {
  readonly #durations = metrics
    .getMeter('directory')
    .createHistogram('directory.ca.request.duration', {
      description: 'Duration of requests to a certificate authority',
      unit: 's',
    });

  /** Runs an operation and records it. */
  async measure<T>(
    operation: 'sign' | 'get' | 'revoke' | 'find',
    work: () => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    const record = (outcome: AuthorityOutcome) =>
      this.#durations.record((performance.now() - startedAt) / 1000, {
        authority: 'freeipa',
        operation,
        outcome,
      });
    try {
      const answer = await work();
      record(answer === undefined ? 'not_found' : 'success');
      return answer;
    } catch (error) {
      const name = isError(error) ? error.name : '';
      record(OUTCOMES[name] ?? 'protocol_error');
      throw error;
    }
  }
}
