import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { AuthorityMetrics } from './AuthorityMetrics';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  OutcomeUnknownError,
} from './CertificateAuthority';

describe('AuthorityMetrics', () => {
  it('records each operation by its outcome, without names', async () => {
    const exporter = new InMemoryMetricExporter(
      AggregationTemporality.CUMULATIVE,
    );
    const reader = new PeriodicExportingMetricReader({ exporter });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const authorityMetrics = new AuthorityMetrics('freeipa');

    await authorityMetrics.measure('sign', async () => 'issued');
    await authorityMetrics.measure('get', async () => 'found');
    await authorityMetrics.measure('get', async () => undefined);
    await authorityMetrics.measure('release', async () => undefined);
    for (const error of [
      new AuthorityRefusalError('alice'),
      new AuthorityUnavailableError('down'),
      new OutcomeUnknownError('lost'),
      new AuthorityProtocolError('invalid'),
      new Error('bug'),
    ]) {
      const failing = authorityMetrics.measure('sign', () =>
        Promise.reject(error),
      );
      await expect(failing).rejects.toBe(error);
    }

    await reader.forceFlush();
    const [{ scopeMetrics }] = exporter.getMetrics();
    const recorded = scopeMetrics.flatMap(scope => scope.metrics);
    expect(recorded).toHaveLength(1);
    expect(recorded[0].descriptor).toMatchObject({
      name: 'directory.ca.request.duration',
      unit: 's',
    });
    const points = recorded[0].dataPoints.map(point => point.attributes);
    const authority = 'freeipa';
    expect(points).toEqual([
      { authority, operation: 'sign', outcome: 'success' },
      { authority, operation: 'get', outcome: 'success' },
      { authority, operation: 'get', outcome: 'not_found' },
      { authority, operation: 'release', outcome: 'success' },
      { authority, operation: 'sign', outcome: 'refused' },
      { authority, operation: 'sign', outcome: 'unavailable' },
      { authority, operation: 'sign', outcome: 'outcome_unknown' },
      { authority, operation: 'sign', outcome: 'protocol_error' },
      { authority, operation: 'sign', outcome: 'error' },
    ]);
  });
});
