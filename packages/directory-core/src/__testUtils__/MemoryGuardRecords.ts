import {
  MassDeletionGuard,
  type EntryCounts,
  type GuardRecords,
} from '../replica/sync/MassDeletionGuard';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/** In-memory records of the mass-deletion guard. */
export class MemoryGuardRecords implements GuardRecords {
  #baseline: EntryCounts = { users: 0, groups: 0 };
  /** Counts that an administrator has accepted. */
  readonly overrides: EntryCounts[] = [];

  load: GuardRecords['load'] = async () => ({
    baseline: this.#baseline,
    overrides: this.overrides,
  });

  addSample: GuardRecords['addSample'] = async ({ users, groups }) => {
    this.#baseline = {
      users: Math.max(users, this.#baseline.users),
      groups: Math.max(groups, this.#baseline.groups),
    };
  };

  replaceBaseline: GuardRecords['replaceBaseline'] = async counts => {
    this.#baseline = counts;
  };
}

/**
 * Creates a mass-deletion guard with these records. Default of `maxShrinkage`:
 * 0.2.
 */
export function createGuard({
  records = new MemoryGuardRecords(),
  maxShrinkage = 0.2,
}: {
  readonly records?: GuardRecords;
  readonly maxShrinkage?: number;
} = {}): MassDeletionGuard {
  const logger = new RecordingLogger();
  return new MassDeletionGuard({ records, maxShrinkage, logger });
}
