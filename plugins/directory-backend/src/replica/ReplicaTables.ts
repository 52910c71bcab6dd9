import { AgreementTable } from './AgreementTable';
import { GroupTable } from './GroupTable';
import { UserTable } from './UserTable';

/** The copy of a directory: entries by their keys, which are normalized DNs. */
export interface ReplicaTables {
  readonly users: UserTable;
  readonly groups: GroupTable;
  readonly agreements: AgreementTable;
}

/** An empty copy. */
export function createTables(): ReplicaTables {
  return {
    users: new UserTable(),
    groups: new GroupTable(),
    agreements: new AgreementTable(),
  };
}
