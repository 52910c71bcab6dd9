import {
  metrics,
  type Attributes,
  type ObservableCallback,
} from '@opentelemetry/api';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { observeReplica } from './observeReplica';
import { ReplicaState } from './sync/ReplicaState';
import { ReplicaTables } from './tables/ReplicaTables';

it('exports the state, mode and size of a replica', async () => {
  const callbacks = new Map<string, ObservableCallback>();
  const create = (name: string) => ({
    addCallback: (callback: ObservableCallback) =>
      callbacks.set(name.replace('directory.replica.', ''), callback),
  });
  jest.spyOn(metrics, 'getMeter').mockReturnValue({
    createObservableGauge: create,
  } as never);
  const state = new ReplicaState({
    maxStalenessMs: 60_000,
    logger: new RecordingLogger(),
  });
  const tables = new ReplicaTables();
  tables.groups.set('cn=staff', { members: ['uid=alice'], sponsors: [] });
  observeReplica({ state, tables, mode: 'full' });
  /** Returns the nonzero values of a metric, by the value of its attribute. */
  const read = (name: string) => {
    const values: Record<string, number> = {};
    const observe = (value: number, attributes: Attributes = {}) => {
      if (value !== 0) {
        values[String(Object.values(attributes)[0] ?? '')] = value;
      }
    };
    callbacks.get(name)!({ observe } as never);
    return values;
  };

  expect(read('age')).toEqual({});
  expect(read('state')).toEqual({ starting: 1 });
  expect(read('mode')).toEqual({ full: 1 });
  expect(read('entries')).toEqual({ group: 1 });

  state.confirm(performance.now() - 5000);
  expect(read('age')['']).toBeGreaterThanOrEqual(5);
  expect(read('state')).toEqual({ serving: 1 });
  expect(read('suspended')).toEqual({});

  state.suspend('accessCheck', 'unreadable');
  expect(read('state')).toEqual({ suspended: 1 });
  expect(read('suspended')).toEqual({ accessCheck: 1 });
  expect([...callbacks.keys()].sort()).toEqual([
    'age',
    'entries',
    'mode',
    'state',
    'suspended',
  ]);
});
