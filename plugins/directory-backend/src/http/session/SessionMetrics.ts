import { metrics } from '@opentelemetry/api';

/** What became of a session cookie; the values of the attribute `outcome`. */
export type SessionOutcome = 'given' | 'accepted' | 'ended' | 'refused';

/** Counts session cookies. Whose is no attribute. */
export class SessionMetrics {
  readonly #cookies = metrics
    .getMeter('directory')
    .createCounter('directory.session.cookies', {
      description: 'Session cookies given to programs and sent by them',
    });

  /** Counts one. */
  count(outcome: SessionOutcome): void {
    this.#cookies.add(1, { outcome });
  }
}
