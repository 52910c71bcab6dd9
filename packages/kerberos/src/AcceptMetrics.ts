import { Attributes, metrics } from '@opentelemetry/api';
import { KerberosResult } from './KerberosService';

/**
 * Records the number and duration of evaluations by outcome and, if refused, by
 * reason. The principal is not an attribute: everyone with access to the
 * metrics could read it.
 *
 * Uses OpenTelemetry's API, because Backstage's metrics service is scoped to a plugin.
 */
export class AcceptMetrics {
  readonly #count;
  readonly #duration;

  constructor() {
    const meter = metrics.getMeter('@directory-gateway/kerberos');
    this.#count = meter.createCounter('kerberos.accept.count', {
      description: 'Authorization headers evaluated',
      unit: '{header}',
    });
    this.#duration = meter.createHistogram('kerberos.accept.duration', {
      description: 'Duration of evaluating an Authorization header',
      unit: 's',
      advice: {
        explicitBucketBoundaries: [
          0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1,
        ],
      },
    });
  }

  record(result: KerberosResult, seconds: number): void {
    const attributes: Attributes = {
      outcome: result.outcome,
      ...(result.outcome === 'refused' && { reason: result.reason }),
    };
    this.#count.add(1, attributes);
    this.#duration.record(seconds, attributes);
  }
}
