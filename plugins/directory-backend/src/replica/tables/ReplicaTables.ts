import { isDeepStrictEqual } from 'node:util';
import { GroupTable } from './GroupTable';
import type { AgreementEntry } from '../sync/ReplicaSource';
import { UserTable } from './UserTable';

/** All agreements. */
class AgreementTable {
  readonly #byKey = new Map<string, AgreementEntry>();

  get size(): number {
    return this.#byKey.size;
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  values(): Iterable<AgreementEntry> {
    return this.#byKey.values();
  }

  /** Whether an entry is not what is kept of it. */
  differs(key: string, agreement: AgreementEntry | undefined): boolean {
    return !isDeepStrictEqual(this.#byKey.get(key), agreement);
  }

  set(key: string, agreement: AgreementEntry): void {
    this.#byKey.set(key, agreement);
  }

  delete(key: string): void {
    this.#byKey.delete(key);
  }
}

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
