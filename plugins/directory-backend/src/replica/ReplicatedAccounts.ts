import type { AccountReplica } from '../directory/Accounts';
import { isUserName } from '../directory/names';
import type { Principal, PrincipalQuery } from '../directory/Principal';
import type { User } from '../directory/records';
import type { EntryKeys } from './ReplicaDirectory';
import type { Replica } from './Replica';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/ServedRecords';

/** The accounts of all served users, from the replica. */
export class ReplicatedAccounts implements AccountReplica {
  readonly #replica: Pick<Replica, 'status' | 'server' | 'isHeld'>;
  readonly #tables: ReplicaTables;
  readonly #keys: Pick<EntryKeys, 'user' | 'entry'>;
  readonly #groupName: (key: string) => string | undefined;

  constructor(options: {
    readonly replica: Pick<Replica, 'status' | 'server' | 'isHeld'>;
    readonly tables: ReplicaTables;
    readonly keys: Pick<EntryKeys, 'user' | 'entry'>;
    /** Name, in lower case, of the group of a key. */
    readonly groupName: (key: string) => string | undefined;
  }) {
    this.#replica = options.replica;
    this.#tables = options.tables;
    this.#keys = options.keys;
    this.#groupName = options.groupName;
  }

  get confirmedAt(): number | undefined {
    const { status } = this.#replica;
    return status.kind === 'serving'
      ? performance.now() - status.ageMs
      : undefined;
  }

  keyOf(dn: string): string {
    return this.#keys.entry(dn);
  }

  find(query: PrincipalQuery): readonly Principal[] {
    const { users } = this.#tables;
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

  get(key: string): Principal | undefined {
    const row = this.#tables.users.served.get(key);
    return row && this.#principalOf(row);
  }

  strictest(principal: Principal): Principal | undefined {
    const row = this.#tables.users.served.get(this.keyOf(principal.dn));
    if (!row) {
      return principal.served ? undefined : principal;
    }
    const { expires, locked } = this.#tables.users.accountOf(row);
    return {
      ...principal,
      locked: principal.locked || locked,
      expires: earlier(principal.expires, expires),
    };
  }

  reconcile(principal: Principal): Principal | undefined {
    const { server } = this.#replica;
    if (server === undefined) {
      return principal;
    }
    // Otherwise, the replica is the older one.
    return server !== principal.server ||
      this.#replica.isHeld(this.keyOf(principal.dn))
      ? this.strictest(principal)
      : principal;
  }

  #keysOf(principal: string): readonly string[] {
    const username = principal.slice(0, principal.lastIndexOf('@'));
    return [
      ...this.#tables.users.keysByAlias(principal),
      ...this.#keysOfUser(username),
    ];
  }

  #keysOfUser(username: string): readonly string[] {
    return isUserName(username) ? [this.#keys.user(username)] : [];
  }

  #principalOf(row: ServedRecord<User>): Principal {
    const { key, name } = row;
    const { users, groups } = this.#tables;
    const { principalNames, expires, locked } = users.accountOf(row);
    const names = [...groups.graph.groupsOf(key)].map(this.#groupName);
    return {
      dn: key,
      kind: 'user',
      username: name,
      served: true,
      principalNames,
      emails: [],
      locked,
      expires,
      groups: new Set(names.filter(each => each !== undefined)),
    };
  }
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  return a && b ? new Date(Math.min(a.getTime(), b.getTime())) : a ?? b;
}
