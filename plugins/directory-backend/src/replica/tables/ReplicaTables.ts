import { isDeepStrictEqual } from 'node:util';
import type { AgreementEntry } from './entries';
import { GroupTable } from './GroupTable';
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

  /** Whether an entry differs from the one in the table. */
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

/** The replicated entries by key, which is the normalized DN. */
export class ReplicaTables {
  readonly users = new UserTable();
  readonly groups = new GroupTable();
  readonly agreements = new AgreementTable();
}
