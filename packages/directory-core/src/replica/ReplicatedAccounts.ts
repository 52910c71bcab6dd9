import type { AccountReplica } from '../directory/Accounts';
import { isUserName } from '../directory/names';
import type { Principal, PrincipalQuery } from '../directory/Principal';
import type { User } from '../directory/records';
import type { Replica } from './Replica';
import { earlierOf } from './sync/StricterValues';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';

interface ReplicatedAccountsOptions {
  readonly replica: Pick<Replica, 'status' | 'server' | 'stricter'>;
  readonly tables: ReplicaTables;
  /** Returns the key of the entry with a distinguished name. */
  readonly keyOf: (dn: string) => string;
  /** Returns the name of a group by key, in lower case. */
  readonly groupName: (key: string) => string | undefined;
}

/** The accounts of all served users, from the replica. */
export class ReplicatedAccounts implements AccountReplica {
  readonly #options: ReplicatedAccountsOptions;

  constructor(options: ReplicatedAccountsOptions) {
    this.#options = options;
  }

  get confirmedAt(): number | undefined {
    const { status } = this.#options.replica;
    return status.kind === 'serving'
      ? performance.now() - status.ageMs
      : undefined;
  }

  keyOf(dn: string): string {
    return this.#options.keyOf(dn);
  }

  find(query: PrincipalQuery): readonly Principal[] {
    const { users } = this.#options.tables;
    const keys =
      'principal' in query
        ? this.#keysOf(query.principal)
        : this.#keysOfUser(query.username);
    const rows = [...new Set(keys)].flatMap(key => users.served.get(key) ?? []);
    return rows
      .filter(row => {
        const { principalNames, isFoundByUsername } = users.accountOf(row);
        // Kerberos names are case-sensitive (RFC 4120 §6.2).
        return 'principal' in query
          ? principalNames.includes(query.principal)
          : isFoundByUsername;
      })
      .map(row => this.#principalOf(row));
  }

  /** Returns the ID of the user with a name. See `Principal.stableId`. */
  stableIdOf(username: string): string | undefined {
    return stableIdOf(
      this.#options.tables.users.served.named(username)?.uniqueId,
    );
  }

  /** Returns the name of the served user with an ID. */
  usernameOf(stableId: string): string | undefined {
    const { users } = this.#options.tables;
    const key = users.keyOf(uniqueIdOf(stableId) ?? '');
    return key === undefined ? undefined : users.served.get(key)?.name;
  }

  /** Returns the IDs of up to `count` accounts. */
  someStableIds(count: number): readonly string[] {
    const { served } = this.#options.tables.users;
    const ids = new Array<string>();
    for (const key of served.keys()) {
      if (ids.length === count) {
        break;
      }
      const id = stableIdOf(served.get(key)?.uniqueId);
      ids.push(...(id === undefined ? [] : [id]));
    }
    return ids;
  }

  get(key: string): Principal | undefined {
    const row = this.#options.tables.users.served.get(key);
    return row && this.#principalOf(row);
  }

  strictest(principal: Principal): Principal | undefined {
    const { users } = this.#options.tables;
    const key = this.keyOf(principal.dn);
    const row = users.served.get(key);
    if (!row && principal.served) {
      return undefined;
    }
    const account = row && users.accountOf(row);
    // Groups also name members that the replica does not have.
    const groups = this.#groupNamesOf(key);
    const possible = principal.possibleGroups ?? principal.groups;
    return {
      ...principal,
      locked: principal.locked || account?.locked === true,
      expires: earlierOf(principal.expires, account?.expires),
      groups: new Set([...principal.groups].filter(name => groups.has(name))),
      possibleGroups: new Set([...possible, ...groups]),
    };
  }

  reconcile(principal: Principal): Principal | undefined {
    const { replica } = this.#options;
    if (replica.server === undefined) {
      return principal;
    }
    const named = this.#withName(principal);
    // On the same server, the replica is never newer than the principal.
    return replica.server !== principal.server || replica.stricter.isActive
      ? this.strictest(named)
      : named;
  }

  /**
   * Returns a principal with the name that the replica has for its entry, so
   * that a request finds the caller's own records while a rename becomes
   * visible.
   */
  #withName(principal: Principal): Principal {
    const { users } = this.#options.tables;
    const key = users.keyOf(uniqueIdOf(principal.stableId) ?? '');
    const row = key === undefined ? undefined : users.served.get(key);
    return row && row.key !== this.keyOf(principal.dn)
      ? { ...principal, dn: row.key, username: row.name }
      : principal;
  }

  #keysOf(principal: string): readonly string[] {
    const username = principal.slice(0, principal.lastIndexOf('@'));
    return [
      ...this.#options.tables.users.keysByAlias(principal),
      ...this.#keysOfUser(username),
    ];
  }

  #keysOfUser(username: string): readonly string[] {
    const { served } = this.#options.tables.users;
    const row = isUserName(username) ? served.named(username) : undefined;
    return row ? [row.key] : [];
  }

  #principalOf(row: ServedRecord<User>): Principal {
    const { tables } = this.#options;
    const { key, name, uniqueId } = row;
    const { principalNames, expires, locked } = tables.users.accountOf(row);
    return {
      dn: key,
      kind: 'user',
      username: name,
      stableId: stableIdOf(uniqueId),
      served: true,
      principalNames,
      emails: [],
      locked,
      expires,
      groups: this.#groupNamesOf(key),
    };
  }

  #groupNamesOf(key: string): ReadonlySet<string> {
    const { tables, groupName } = this.#options;
    const names = [...tables.groups.graph.groupsOf(key)].map(groupName);
    return new Set(names.filter(each => each !== undefined));
  }
}

const STABLE_ID_PREFIX = 'ipaUniqueID=';

function stableIdOf(uniqueId: string | undefined): string | undefined {
  return uniqueId === undefined ? undefined : `${STABLE_ID_PREFIX}${uniqueId}`;
}

function uniqueIdOf(stableId: string | undefined): string | undefined {
  return stableId?.startsWith(STABLE_ID_PREFIX)
    ? stableId.slice(STABLE_ID_PREFIX.length)
    : undefined;
}
