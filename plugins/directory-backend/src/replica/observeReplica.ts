import { metrics } from '@opentelemetry/api';
import type { Replica } from './Replica';

/** Exports how old a copy is, whether it is refused, and how large it is. */
export function observeReplica(
  replica: Pick<Replica, 'ageMs' | 'refusal' | 'tables'>,
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
    .createObservableGauge('directory.replica.refused', {
      description: '1 while the directory has too few entries to be believed',
    })
    .addCallback(result => result.observe(replica.refusal ? 1 : 0));
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
