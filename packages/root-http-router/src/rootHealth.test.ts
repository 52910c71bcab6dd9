import {
  ServiceFactoryTester,
  mockServices,
} from '@backstage/backend-test-utils';
import { readinessChecksServiceRef } from '@directory-gateway/backstage-plugin-directory-node';
import { rootHealth } from './rootHealth';

async function startHealth() {
  const lifecycle = mockServices.rootLifecycle.mock();
  const tester = ServiceFactoryTester.from(rootHealth, {
    dependencies: [lifecycle.factory],
  });
  const health = await tester.getSubject();
  return {
    health,
    checks: await tester.getService(readinessChecksServiceRef),
    finishStart: () => lifecycle.addStartupHook.mock.lastCall?.[0](),
    beginShutdown: () => lifecycle.addBeforeShutdownHook.mock.lastCall?.[0](),
  };
}

describe('rootHealth', () => {
  it('reports liveness in every state and readiness between start and shutdown', async () => {
    const { health, finishStart, beginShutdown } = await startHealth();
    const statuses = async () => [
      (await health.getLiveness()).status,
      (await health.getReadiness()).status,
    ];

    expect(await statuses()).toEqual([200, 503]);
    finishStart();
    expect(await statuses()).toEqual([200, 200]);
    beginShutdown();
    expect(await statuses()).toEqual([200, 503]);
    expect(await health.getReadiness()).toEqual({
      status: 503,
      payload: { message: 'Not ready yet: shutting down', status: 'error' },
    });
  });

  it('waits for every check, and does not repeat a check that has passed', async () => {
    const { health, checks, finishStart } = await startHealth();
    const ready = new Set<string>();
    for (const name of ['first', 'second']) {
      checks.add({
        name,
        maxWaitMs: 3_600_000,
        isReady: () => ready.has(name),
      });
    }
    finishStart();
    const message = async () => (await health.getReadiness()).payload;

    expect(await message()).toMatchObject({
      message: 'Not ready yet: first, second',
    });
    ready.add('first');
    expect(await message()).toMatchObject({ message: 'Not ready yet: second' });
    ready.add('second');
    expect(await message()).toEqual({ status: 'ok' });
    ready.clear();
    expect(await message()).toEqual({ status: 'ok' });
  });

  it('does not wait longer than maxWaitMs for a check', async () => {
    jest.useFakeTimers();
    try {
      const { health, checks, finishStart } = await startHealth();
      checks.add({ name: 'never', maxWaitMs: 60_000, isReady: () => false });
      finishStart();

      jest.advanceTimersByTime(59_999);
      expect(await health.getReadiness()).toMatchObject({ status: 503 });
      jest.advanceTimersByTime(1);
      expect(await health.getReadiness()).toMatchObject({ status: 200 });
    } finally {
      jest.useRealTimers();
    }
  });
});
