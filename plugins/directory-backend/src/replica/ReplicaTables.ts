import { GroupTable } from './GroupTable';
import { UserTable } from './UserTable';

/** An agreement of freeipa-fas, and who has signed it. */
export interface CopiedAgreement {
  readonly name: string;
  readonly enabled: boolean;
  /** Keys of users. */
  readonly signers: ReadonlySet<string>;
}

/** The copy of a directory: entries by their keys, which are normalized DNs. */
export interface ReplicaTables {
  readonly users: UserTable;
  readonly groups: GroupTable;
  readonly agreements: Map<string, CopiedAgreement>;
}

/** An empty copy. */
export function createTables(): ReplicaTables {
  return {
    users: new UserTable(),
    groups: new GroupTable(),
    agreements: new Map(),
  };
}
