import { isDeepStrictEqual } from 'node:util';
import type { AgreementEntry } from './entries';
import { GroupTable } from './GroupTable';
import { UserTable } from './UserTable';

/** All agreements, by key. */
class AgreementTable extends Map<string, AgreementEntry> {
  /** Whether an entry differs from the one in the table. */
  differs(key: string, agreement: AgreementEntry | undefined): boolean {
    return !isDeepStrictEqual(this.get(key), agreement);
  }
}

/** The replicated entries by key; the key is the normalized DN. */
export class ReplicaTables {
  readonly users = new UserTable();
  readonly groups = new GroupTable();
  readonly agreements = new AgreementTable();
}
