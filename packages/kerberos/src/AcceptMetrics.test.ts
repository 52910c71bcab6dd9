import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { AcceptMetrics } from './AcceptMetrics';

describe('AcceptMetrics', () => {
  const exporter = new InMemoryMetricExporter(
    AggregationTemporality.CUMULATIVE,
  );
  const provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter })],
  });

  beforeAll(() => {
    metrics.setGlobalMeterProvider(provider);
  });

  afterAll(async () => {
    metrics.disable();
    await provider.shutdown();
  });

  it('records counts and durations by outcome and reason, without the principal', async () => {
    const acceptMetrics = new AcceptMetrics();
    for (const principal of ['alice@EXAMPLE.TEST', 'bob@EXAMPLE.TEST']) {
      acceptMetrics.record({ outcome: 'accepted', principal }, 0.25);
    }
    acceptMetrics.record(
      { outcome: 'refused', reason: 'replayed', message: '' },
      0.5,
    );
    acceptMetrics.record({ outcome: 'unavailable', message: '' }, 1);
    await provider.forceFlush();

    const [{ scope, metrics: recorded }] =
      exporter.getMetrics()[0].scopeMetrics;
    expect(scope.name).toBe('@directory-gateway/kerberos');
    expect(
      recorded.map(({ descriptor, dataPoints, dataPointType }) => ({
        name: descriptor.name,
        unit: descriptor.unit,
        points: dataPoints.map(({ attributes, value }) => [
          attributes,
          dataPointType === DataPointType.HISTOGRAM
            ? (value as { sum: number }).sum
            : value,
        ]),
      })),
    ).toEqual([
      {
        name: 'kerberos.accept.count',
        unit: '{header}',
        points: [
          [{ outcome: 'accepted' }, 2],
          [{ outcome: 'refused', reason: 'replayed' }, 1],
          [{ outcome: 'unavailable' }, 1],
        ],
      },
      {
        name: 'kerberos.accept.duration',
        unit: 's',
        points: [
          [{ outcome: 'accepted' }, 0.5],
          [{ outcome: 'refused', reason: 'replayed' }, 0.5],
          [{ outcome: 'unavailable' }, 1],
        ],
      },
    ]);
  });
});
