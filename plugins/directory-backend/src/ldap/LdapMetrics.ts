import { metrics } from '@opentelemetry/api';
import { isError } from '@backstage/errors';
import { isNoSuchObject } from './ldapErrors';

/** What became of an operation; the values of the attribute `outcome`. */
export type LdapOutcome =
  | 'success'
  | 'no_such_object'
  | 'timeout'
  | 'unavailable';

const meter = metrics.getMeter('directory');

const durations = meter.createHistogram('directory.ldap.operation.duration', {
  description: 'Duration of LDAP operations, from asking to the whole answer',
  unit: 's',
});

const connections = meter.createUpDownCounter('directory.ldap.connections', {
  description: 'Open LDAP connections, by server',
});

const attempts = meter.createCounter('directory.ldap.connection.attempts', {
  description: 'Attempts to connect and bind, by server and outcome',
});

const breakers = meter.createUpDownCounter('directory.ldap.breakers.open', {
  description: 'Whether a server is out of use after failures, by server',
});

/**
 * The LDAP metrics of one server. Attributes name the server and the outcome,
 * never an entry.
 */
export class LdapMetrics {
  readonly #server: string;

  constructor(server: string) {
    this.#server = server;
  }

  /** Runs an operation and records how long it took and how it ended. */
  async operation<T>(work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const record = (outcome: LdapOutcome) =>
      durations.record((performance.now() - startedAt) / 1000, {
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
    attempts.add(1, { server: this.#server, outcome });
  }

  /** Counts an open connection, until the given function is called. */
  opened(): () => void {
    connections.add(1, { server: this.#server });
    return () => connections.add(-1, { server: this.#server });
  }

  /** Says that the server is out of use, or back. */
  breaker(state: 'open' | 'closed'): void {
    breakers.add(state === 'open' ? 1 : -1, { server: this.#server });
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
