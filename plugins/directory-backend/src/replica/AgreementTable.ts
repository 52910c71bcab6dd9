import { isDeepStrictEqual } from 'node:util';

/** An agreement of freeipa-fas, and who has signed it. */
export interface CopiedAgreement {
  readonly name: string;
  readonly enabled: boolean;
  /** Keys of users. */
  readonly signers: ReadonlySet<string>;
}

/** All agreements. */
export class AgreementTable {
  readonly #byKey = new Map<string, CopiedAgreement>();

  get size(): number {
    return this.#byKey.size;
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  values(): Iterable<CopiedAgreement> {
    return this.#byKey.values();
  }

  /** Whether an entry is not what is kept of it. */
  differs(key: string, agreement: CopiedAgreement | undefined): boolean {
    return !isDeepStrictEqual(this.#byKey.get(key), agreement);
  }

  set(key: string, agreement: CopiedAgreement): void {
    this.#byKey.set(key, agreement);
  }

  delete(key: string): void {
    this.#byKey.delete(key);
  }
}
