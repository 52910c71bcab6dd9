import { metrics } from '@opentelemetry/api';
import { isError } from '@backstage/errors';

/** What became of a request; the values of the attribute `outcome`. */
export type SigningOutcome =
  | 'issued'
  /** A request was repeated, and got what was on record. */
  | 'repeated'
  | 'refused'
  | 'unavailable'
  | 'unknown'
  | 'error';

const OUTCOMES: Readonly<Record<string, SigningOutcome>> = {
  AuthorityRefusalError: 'refused',
  AuthorityUnavailableError: 'unavailable',
  OutcomeUnknownError: 'unknown',
};

/** Times the signing. For whom, and with which key, is no attribute. */
export class SigningMetrics {
  readonly #durations = metrics
    .getMeter('directory')
    .createHistogram('directory.ca.embedded.sign.duration', {
      description:
        'Duration of signing a certificate, from the request to its record',
      unit: 's',
      advice: {
        explicitBucketBoundaries: [
          0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
        ],
      },
    });

  /** Runs the work, which says whether it issued or repeated, and records it. */
  async time<T extends { readonly outcome: 'issued' | 'repeated' }>(
    work: () => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    const record = (outcome: SigningOutcome) =>
      this.#durations.record((performance.now() - startedAt) / 1000, {
        outcome,
      });
    try {
      const answer = await work();
      record(answer.outcome);
      return answer;
    } catch (error) {
      record((isError(error) && OUTCOMES[error.name]) || 'error');
      throw error;
    }
  }
}
