import { metrics } from '@opentelemetry/api';

/** Counts the messages about certificates that end. Whose is no attribute. */
export class ReminderMetrics {
  readonly #reminders = metrics
    .getMeter('directory')
    .createCounter('directory.certificate.reminders', {
      description: 'Messages about certificates that end',
    });

  /** Counts one: whether the portal's notifications took it. */
  count(outcome: 'sent' | 'failed'): void {
    this.#reminders.add(1, { outcome });
  }
}
