import { Attributes, metrics } from '@opentelemetry/api';
import { KerberosResult } from './KerberosService';

/**
 * Counts and times the judged headers, by outcome and, of refusals, by reason. Who was accepted is
 * no attribute: it would make one time series a person, readable by everyone with access to them.
 *
 * Uses the API of OpenTelemetry directly: Backstage's metrics service is plugin-scoped, this is
 * not.
 */
export class AcceptMetrics {
  readonly #count;
  readonly #duration;

  constructor() {
    const meter = metrics.getMeter('@directory-gateway/kerberos');
    this.#count = meter.createCounter('kerberos.accept.count', {
      description: 'Authorization headers judged',
      unit: '{header}',
    });
    this.#duration = meter.createHistogram('kerberos.accept.duration', {
      description: 'Time taken to judge an Authorization header',
      unit: 's',
      advice: {
        explicitBucketBoundaries: [
          0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1,
        ],
      },
    });
  }

  /** @param seconds - time from the call to the answer */
  record(result: KerberosResult, seconds: number): void {
    const attributes: Attributes = {
      outcome: result.outcome,
      ...(result.outcome === 'refused' && { reason: result.reason }),
    };
    this.#count.add(1, attributes);
    this.#duration.record(seconds, attributes);
  }
}
