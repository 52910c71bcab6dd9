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

describe('Metrics of EmbeddedAuthority', () => {
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

  it('records durations by outcome, and the expiration of CRLs', async () => {
    const { authority: embedded, maintain } = await ca.open();
    await maintain();
    const request = aliceRequest();
    await embedded.sign(request);
    await embedded.sign(request);
    await embedded.sign(aliceRequest());
    const refused = embedded.sign(aliceRequest({ profile: 'none' }));
    await expect(refused).rejects.toThrow();
    const restore = await ca.database.interrupt();
    const unavailable = embedded.sign(aliceRequest());
    await expect(unavailable).rejects.toThrow();
    await restore();
    await provider.forceFlush();

    const [{ scope, metrics: all }] = exporter.getMetrics()[0].scopeMetrics;
    expect(scope.name).toBe('directory');
    const gauge = 'directory.ca.crl.next_update';
    const recorded = all.filter(({ descriptor }) => descriptor.name !== gauge);
    const [authority, operation] = ['embedded', 'sign'];
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
        name: 'directory.ca.request.duration',
        unit: 's',
        points: [
          [{ authority, operation, outcome: 'success' }, 2],
          [{ authority, operation, outcome: 'repeated' }, 1],
          [{ authority, operation, outcome: 'refused' }, 1],
          [{ authority, operation, outcome: 'unavailable' }, 1],
        ],
      },
    ]);

    const crl = all.find(({ descriptor }) => descriptor.name === gauge);
    expect(crl?.descriptor.unit).toBe('s');
    const [{ attributes, value }] = crl!.dataPoints;
    expect(attributes).toEqual({ issuer: ca.intermediate.id.slice(0, 16) });
    const week = 7 * 24 * 60 * 60;
    expect(value).toBeLessThanOrEqual(week);
    expect(value).toBeGreaterThan(week - 600);
  });
});
