import { metrics } from '@opentelemetry/api';
import type { Replica } from './Replica';
import { suspensionReasons } from './ReplicaState';

/** Exports how old a replica is, whether reads are suspended, and its size. */
export function observeReplica(
  replica: Pick<Replica, 'ageMs' | 'status' | 'tables'>,
): void {
  const meter = metrics.getMeter('directory');
  meter
    .createObservableGauge('directory.replica.age', {
      description: 'Time since the copy was last known to be the directory',
      unit: 's',
    })
    .addCallback(result => {
      // Before there is a copy it has no age.
      if (Number.isFinite(replica.ageMs)) {
        result.observe(replica.ageMs / 1000);
      }
    });
  meter
    .createObservableGauge('directory.replica.suspended', {
      description: '1 while reads are suspended, by reason',
    })
    .addCallback(result => {
      const { status } = replica;
      const current = status.kind === 'suspended' ? status.reason : undefined;
      for (const reason of suspensionReasons) {
        result.observe(reason === current ? 1 : 0, { reason });
      }
    });
  meter
    .createObservableGauge('directory.replica.entries', {
      description: 'Entries in the copy, by kind',
    })
    .addCallback(result => {
      const { users, groups, agreements } = replica.tables;
      result.observe(users.served.size, { kind: 'user' });
      result.observe(groups.size, { kind: 'group' });
      result.observe(agreements.size, { kind: 'agreement' });
    });
}
