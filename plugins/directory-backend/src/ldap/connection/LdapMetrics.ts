import {
  metrics,
  type Counter,
  type Histogram,
  type UpDownCounter,
} from '@opentelemetry/api';
import { isError } from '@backstage/errors';
import { isNoSuchObject } from './ldapErrors';

/** What became of an operation; the values of the attribute `outcome`. */
export type LdapOutcome =
  | 'success'
  | 'no_such_object'
  | 'timeout'
  | 'unavailable';

/**
 * The LDAP metrics of one server. Attributes name the server and the outcome,
 * never an entry.
 */
export class LdapMetrics {
  readonly #server: string;
  readonly #durations: Histogram;
  readonly #connections: UpDownCounter;
  readonly #attempts: Counter;
  readonly #breakers: UpDownCounter;

  /**
   * Made when a server is first used: an instrument that is made before the
   * portal has set up its metrics records nothing.
   */
  constructor(server: string) {
    const meter = metrics.getMeter('directory');
    this.#server = server;
    this.#durations = meter.createHistogram(
      'directory.ldap.operation.duration',
      {
        description:
          'Duration of LDAP operations, from asking to the whole answer',
        unit: 's',
      },
    );
    this.#connections = meter.createUpDownCounter(
      'directory.ldap.connections',
      { description: 'Open LDAP connections, by server' },
    );
    this.#attempts = meter.createCounter('directory.ldap.connection.attempts', {
      description: 'Attempts to connect and bind, by server and outcome',
    });
    this.#breakers = meter.createUpDownCounter('directory.ldap.breakers.open', {
      description: 'Whether a server is out of use after failures, by server',
    });
  }

  /** Runs an operation and records how long it took and how it ended. */
  async operation<T>(work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const record = (outcome: LdapOutcome) =>
      this.#durations.record((performance.now() - startedAt) / 1000, {
        server: this.#server,
        outcome,
      });
    try {
      const answer = await work();
      record('success');
      return answer;
    } catch (error) {
      record(outcomeOf(error));
      throw error;
    }
  }

  /** Counts an attempt to connect. */
  attempted(outcome: 'success' | 'failure'): void {
    this.#attempts.add(1, { server: this.#server, outcome });
  }

  /** Counts an open connection, until the given function is called. */
  opened(): () => void {
    this.#connections.add(1, { server: this.#server });
    return () => this.#connections.add(-1, { server: this.#server });
  }

  /** Says that the server is out of use, or back. */
  breaker(state: 'open' | 'closed'): void {
    this.#breakers.add(state === 'open' ? 1 : -1, { server: this.#server });
  }
}

function outcomeOf(error: unknown): LdapOutcome {
  if (isNoSuchObject(error)) {
    return 'no_such_object';
  }
  return isError(error) && error.name === 'DirectoryTimeoutError'
    ? 'timeout'
    : 'unavailable';
}
