import { isDeepStrictEqual } from 'node:util';
import type { AgreementEntry, EntryRef, ReplicaBatch } from './entries';
import { GroupTable } from './GroupTable';
import { UserTable } from './UserTable';

/** An agreement whose signers the table may change. */
interface StoredAgreement extends AgreementEntry {
  readonly signers: Set<string>;
}

/** All agreements, by stable ID. */
class AgreementTable extends Map<string, StoredAgreement> {
  ids(): Iterable<string> {
    return this.keys();
  }

  override set(id: string, agreement: AgreementEntry): this {
    const signers = new Set(agreement.signers);
    return super.set(id, { ...agreement, signers });
  }

  /** Changes the key of a signer. */
  replaceSigner(from: string, to: string): void {
    for (const { signers } of this.values()) {
      if (signers.delete(from)) {
        signers.add(to);
      }
    }
  }

  /** Whether an entry differs from the one in the table. */
  differs(id: string, agreement: AgreementEntry | undefined): boolean {
    return !isDeepStrictEqual(this.get(id), agreement);
  }
}

/**
 * The replicated entries. Users and groups are found by key, which is the
 * normalized DN that members and sponsors name, and by stable ID.
 */
export class ReplicaTables {
  readonly users = new UserTable();
  readonly groups = new GroupTable();
  readonly agreements = new AgreementTable();
  /** Keys of renamed users and groups by former key. */
  readonly #aliases = new Map<string, string>();
  /** Former keys of renamed users and groups by key. */
  readonly #formerKeys = new Map<string, Set<string>>();

  /** Whether there is an entry with a stable ID. */
  has({ kind, id }: EntryRef): boolean {
    return kind === 'agreements'
      ? this.agreements.has(id)
      : this[kind].keyOf(id) !== undefined;
  }

  /**
   * Changes the key of a user or group in one step. Until
   * {@link endAlias}, entries that still name the former key refer to the new
   * one.
   *
   * @returns the keys of the groups whose links have changed
   */
  rename(
    kind: 'users' | 'groups',
    from: string,
    to: string,
  ): readonly string[] {
    this[kind].rename(from, to);
    const groups = this.groups.replaceLinks(from, to);
    this.agreements.replaceSigner(from, to);
    const formerKeys = (this.#formerKeys.get(from) ?? new Set()).add(from);
    this.#formerKeys.delete(from);
    this.#formerKeys.set(to, formerKeys);
    for (const former of formerKeys) {
      this.#aliases.set(former, to);
    }
    return groups;
  }

  /** Returns the present key of a renamed entry by its former key. */
  aliasOf(former: string): string | undefined {
    return this.#aliases.get(former);
  }

  /**
   * Ends the use of a former key, which another entry may have.
   *
   * @returns the key of the renamed entry; `undefined` if there is none
   */
  endAlias(former: string): string | undefined {
    const key = this.#aliases.get(former);
    if (key !== undefined) {
      const formerKeys = this.#formerKeys.get(key)!;
      formerKeys.delete(former);
      if (formerKeys.size === 0) {
        this.#formerKeys.delete(key);
      }
      this.#aliases.delete(former);
    }
    return key;
  }

  /** Ends the use of all former keys of an entry that is deleted. */
  endAliasesOf(key: string): void {
    for (const former of this.#formerKeys.get(key) ?? []) {
      this.#aliases.delete(former);
    }
    this.#formerKeys.delete(key);
  }

  /** Replaces former keys in the links of entries that were read. */
  resolve(batch: ReplicaBatch): ReplicaBatch {
    if (this.#aliases.size === 0 || batch.kind === 'users') {
      return batch;
    }
    const current = (key: string) => this.#aliases.get(key) ?? key;
    const currentAll = (keys: readonly string[]) =>
      keys.some(key => this.#aliases.has(key))
        ? [...new Set(keys.map(current))]
        : keys;
    return batch.kind === 'groups'
      ? {
          kind: 'groups',
          entries: batch.entries.map(({ entry, ...read }) => ({
            ...read,
            entry: entry && {
              ...entry,
              members: currentAll(entry.members),
              sponsors: currentAll(entry.sponsors),
            },
          })),
        }
      : {
          kind: 'agreements',
          entries: batch.entries.map(({ entry, ...read }) => ({
            ...read,
            entry: entry && {
              ...entry,
              signers: new Set([...entry.signers].map(current)),
            },
          })),
        };
  }
}
