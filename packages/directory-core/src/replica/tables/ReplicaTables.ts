import { isDeepStrictEqual } from 'node:util';
import {
  type AgreementEntry,
  type EntryRef,
  mapLinks,
  type ReplicaBatch,
} from './entries';
import { GroupTable } from './GroupTable';
import { UserTable } from './UserTable';

/** Reference to an entry that has a key. */
export type KeyedRef = EntryRef & { readonly kind: 'users' | 'groups' };

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

/** Time for which links to the former key of an entry refer to the entry. */
export const ALIAS_MS = 10 * 60_000;

/** A former key of a renamed user or group. */
interface Alias {
  readonly renamed: KeyedRef;
  /** Time from `performance.now()`. */
  readonly endsAt: number;
}

/**
 * The replicated entries. Users and groups are found by key, which is the
 * normalized DN that members and sponsors name, and by stable ID.
 */
export class ReplicaTables {
  readonly users = new UserTable();
  readonly groups = new GroupTable();
  readonly agreements = new AgreementTable();
  /** Stable IDs of entries that were read and are not replicated. */
  readonly unreplicated = new Set<string>();
  /** Renamed users and groups by former key. */
  readonly #aliases = new Map<string, Alias>();

  /** Whether there is an entry with a stable ID. */
  has({ kind, id }: EntryRef): boolean {
    return kind === 'agreements'
      ? this.agreements.has(id)
      : this[kind].keyOf(id) !== undefined;
  }

  /** Returns the groups whose members or sponsors include a key. */
  groupsLinkingTo(key: string): readonly EntryRef[] {
    const { graph } = this.groups;
    return [...graph.directGroupsOf(key), ...graph.sponsoredBy([key])].map(
      group => ({ kind: 'groups', id: this.groups.idOf(group)! }),
    );
  }

  /**
   * Changes the key of a user or group in one step. For ten minutes, entries
   * that still name the former key refer to the new one.
   *
   * @returns the keys of the groups whose links have changed
   */
  rename({ kind, id }: KeyedRef, to: string): readonly string[] {
    const from = this[kind].keyOf(id)!;
    this[kind].rename(from, to);
    this.agreements.replaceSigner(from, to);
    this.#aliases.set(from, {
      renamed: { kind, id },
      endsAt: performance.now() + ALIAS_MS,
    });
    return this.groups.replaceLinks(from, to);
  }

  /**
   * Ends the use of a former key, which another entry may have.
   *
   * @returns the renamed entry; `undefined` if there is none
   */
  endAlias(former: string): KeyedRef | undefined {
    const alias = this.#aliases.get(former);
    this.#aliases.delete(former);
    return alias?.renamed;
  }

  /** Ends the use of former keys after ten minutes. */
  expireAliases(): void {
    for (const [former, { endsAt }] of this.#aliases) {
      if (endsAt <= performance.now()) {
        this.#aliases.delete(former);
      }
    }
  }

  /** Replaces former keys in the links of entries that were read. */
  resolve(batch: ReplicaBatch): ReplicaBatch {
    if (this.#aliases.size === 0 || batch.kind === 'users') {
      return batch;
    }
    const current = (key: string) => {
      const { kind, id } = this.#aliases.get(key)?.renamed ?? {};
      return (kind && this[kind].keyOf(id!)) ?? key;
    };
    const currentAll = (keys: readonly string[]) =>
      keys.some(key => this.#aliases.has(key))
        ? [...new Set(keys.map(current))]
        : keys;
    const entries = batch.entries.map(({ entry, ...read }) => ({
      ...read,
      entry: entry && mapLinks<object>(entry, currentAll),
    }));
    return { kind: batch.kind, entries } as ReplicaBatch;
  }
}
