import { metrics } from '@opentelemetry/api';
import { DirectoryTimeoutError } from '@directory-gateway/directory-core';
import { isNoSuchObject } from './ldapErrors';

/**
 * The LDAP metrics of one server. Attributes name the server and the outcome,
 * never an entry.
 */
export class LdapMetrics {
  readonly #server: string;
  // Created when a server is first used: an instrument created before the
  // portal has set up its metrics records nothing.
  readonly #meter = metrics.getMeter('directory');
  readonly #durations = this.#meter.createHistogram(
    'directory.ldap.operation.duration',
    {
      description:
        'Duration of LDAP operations, from the request to the last entry',
      unit: 's',
    },
  );
  readonly #attempts = this.#meter.createCounter(
    'directory.ldap.connection.attempts',
    { description: 'Attempts to connect and bind, by server and outcome' },
  );
  readonly #breakers = this.#meter.createUpDownCounter(
    'directory.ldap.breakers.open',
    { description: '1 while a server is excluded after failures, by server' },
  );

  constructor(server: string) {
    this.#server = server;
  }

  /**
   * Records an operation that has ended now.
   *
   * @param startedAt - time of `performance.now()`
   */
  operation(startedAt: number, error?: unknown): void {
    this.#durations.record((performance.now() - startedAt) / 1000, {
      server: this.#server,
      outcome: error === undefined ? 'success' : outcomeOf(error),
    });
  }

  /** Counts an attempt to connect. */
  attempted(outcome: 'success' | 'failure'): void {
    this.#attempts.add(1, { server: this.#server, outcome });
  }

  /** Records that the server was excluded (`open`) or is back in service. */
  breaker(state: 'open' | 'closed'): void {
    this.#breakers.add(state === 'open' ? 1 : -1, { server: this.#server });
  }
}

function outcomeOf(error: unknown): string {
  if (isNoSuchObject(error)) {
    return 'no_such_object';
  }
  return error instanceof DirectoryTimeoutError ? 'timeout' : 'unavailable';
}
