import assert from 'node:assert';
import type { Change } from '../../changes/ChangeLog';

/** Existence and locks of users, and effective members of groups, by name. */
export interface FollowedDirectory {
  readonly users: Readonly<Record<string, { readonly locked: boolean }>>;
  /** Members as `user alice` and `group staff`, sorted. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

/** Applies changes to a directory that it knows only from these changes. */
export class Follower {
  readonly #users = new Map<string, { readonly locked: boolean }>();
  readonly #groups = new Map<string, Set<string>>();

  constructor(start: FollowedDirectory = { users: {}, groups: {} }) {
    for (const [name, user] of Object.entries(start.users)) {
      this.#users.set(name, user);
    }
    for (const [name, members] of Object.entries(start.groups)) {
      this.#groups.set(name, new Set(members));
    }
  }

  get state(): FollowedDirectory {
    return {
      users: Object.fromEntries(this.#users),
      groups: Object.fromEntries(
        [...this.#groups].map(([name, members]) => [name, [...members].sort()]),
      ),
    };
  }

  /**
   * Applies a change. Fails when the change is impossible in the known state.
   */
  apply(change: Change): void {
    const { kind, name, old_name, member_kind, member_name } = change;
    const entryKind = kind.startsWith('user_') ? 'user' : 'group';
    const isUser = entryKind === 'user';
    const entries: Map<string, unknown> = isUser ? this.#users : this.#groups;
    const member = `${member_kind} ${member_name}`;
    const existing = kind.endsWith('_renamed') ? old_name! : name;
    assert.equal(
      entries.has(existing),
      !kind.endsWith('_created'),
      `${kind} ${name}`,
    );
    const members = this.#groups.get(name);
    switch (kind) {
      case 'user_created':
        this.#users.set(name, { locked: false });
        break;
      case 'group_created':
        this.#groups.set(name, new Set());
        break;
      case 'user_locked':
      case 'user_unlocked':
        this.#users.set(name, { locked: kind === 'user_locked' });
        break;
      case 'user_renamed':
      case 'group_renamed':
        entries.set(name, entries.get(old_name!));
        entries.delete(old_name!);
        this.#replaceMember(`${entryKind} ${old_name}`, `${entryKind} ${name}`);
        break;
      case 'user_deleted':
      case 'group_deleted':
        entries.delete(name);
        this.#replaceMember(`${entryKind} ${name}`);
        break;
      case 'member_added':
        assert(!members!.has(member), `${kind} ${name} ${member}`);
        members!.add(member);
        break;
      case 'member_removed':
        assert(members!.delete(member), `${kind} ${name} ${member}`);
        break;
      default:
    }
  }

  /** Updates memberships: a deletion ends them, and a rename keeps them. */
  #replaceMember(from: string, to?: string): void {
    for (const members of this.#groups.values()) {
      if (members.delete(from) && to !== undefined) {
        members.add(to);
      }
    }
  }
}
