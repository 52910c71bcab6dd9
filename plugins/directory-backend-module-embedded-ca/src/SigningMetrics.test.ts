import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { aliceRequest } from './__testUtils__/requests';
import { TestCa } from './__testUtils__/TestCa';
import { sqlite } from './__testUtils__/TestDatabase';

describe('SigningMetrics', () => {
  const exporter = new InMemoryMetricExporter(
    AggregationTemporality.CUMULATIVE,
  );
  const provider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter })],
  });
  let ca: TestCa;

  beforeAll(async () => {
    metrics.setGlobalMeterProvider(provider);
    ca = await TestCa.start(sqlite);
  });

  afterAll(async () => {
    await ca.stop();
    metrics.disable();
    await provider.shutdown();
  });

  it('times by outcome, and tells nothing else', async () => {
    const { authority } = await ca.open();
    const request = aliceRequest();
    await authority.sign(request);
    await authority.sign(request);
    await authority.sign(aliceRequest());
    const refused = authority.sign(aliceRequest({ profile: 'none' }));
    await expect(refused).rejects.toThrow();
    const restore = await ca.database.interrupt();
    const unavailable = authority.sign(aliceRequest());
    await expect(unavailable).rejects.toThrow();
    await restore();
    await provider.forceFlush();

    const [{ scope, metrics: recorded }] =
      exporter.getMetrics()[0].scopeMetrics;
    expect(scope.name).toBe('directory');
    expect(
      recorded.map(({ descriptor, dataPoints }) => ({
        name: descriptor.name,
        unit: descriptor.unit,
        points: dataPoints.map(({ attributes, value }) => [
          attributes,
          (value as { count: number }).count,
        ]),
      })),
    ).toEqual([
      {
        name: 'directory.ca.embedded.sign.duration',
        unit: 's',
        points: [
          [{ outcome: 'issued' }, 2],
          [{ outcome: 'repeated' }, 1],
          [{ outcome: 'refused' }, 1],
          [{ outcome: 'unavailable' }, 1],
        ],
      },
    ]);
  });
});
