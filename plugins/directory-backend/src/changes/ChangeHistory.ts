import type { CallerContext } from '../directory/Caller';
import type { Change, ChangeKind, ChangeLog } from './ChangeLog';
import { queryLog, type VisibleEntries, visibilityTest } from './ChangeFeed';

/** Maximum number of changes in a history; older ones are omitted. */
const MAX_CHANGES = 10_000;

const GROUP_CHANGES: readonly ChangeKind[] = [
  'group_created',
  'group_renamed',
  'member_added',
  'member_removed',
];

const USER_CHANGES: readonly ChangeKind[] = [
  'user_created',
  'user_renamed',
  'member_added',
  'member_removed',
];

const LOCK_CHANGES: readonly ChangeKind[] = ['user_locked', 'user_unlocked'];

/** Reads the histories of users and groups from the change log. */
export class ChangeHistory {
  readonly #log: ChangeLog;
  readonly #directory: VisibleEntries;

  constructor(options: {
    readonly log: ChangeLog;
    readonly directory: VisibleEntries;
  }) {
    this.#log = options.log;
    this.#directory = options.directory;
  }

  /**
   * Returns the changes to a group's members and name, latest first.
   *
   * @param groupname - In the directory's spelling.
   * @throws ChangeLogUnavailableError
   */
  ofGroup(
    groupname: string,
    context: CallerContext,
  ): Promise<readonly Change[]> {
    return this.#read(
      { kind: 'group', name: groupname, kinds: GROUP_CHANGES },
      context,
    );
  }

  /**
   * Returns when the direct members of a group were added, by user name. Omits
   * users who were members before the log began; includes users who are hidden
   * from a caller.
   *
   * @param groupname - In the directory's spelling.
   * @throws ChangeLogUnavailableError
   */
  joinTimesOf(groupname: string): Promise<ReadonlyMap<string, Date>> {
    return queryLog(() => this.#log.joinTimesOf(groupname));
  }

  /**
   * Returns the changes to a user's name, direct memberships and, if requested,
   * locks, latest first.
   *
   * @param username - In the directory's spelling.
   * @throws ChangeLogUnavailableError
   */
  ofUser(
    username: string,
    options: { readonly withLocks: boolean },
    context: CallerContext,
  ): Promise<readonly Change[]> {
    const kinds = [...USER_CHANGES, ...(options.withLocks ? LOCK_CHANGES : [])];
    return this.#read({ kind: 'user', name: username, kinds }, context);
  }

  async #read(
    query: {
      readonly kind: 'user' | 'group';
      readonly name: string;
      readonly kinds: readonly ChangeKind[];
    },
    context: CallerContext,
  ): Promise<readonly Change[]> {
    const changes = await queryLog(() =>
      this.#log.changesOf({ ...query, limit: MAX_CHANGES }),
    );
    const isVisible = visibilityTest(this.#directory, context);
    const visible: Change[] = [];
    for (const change of changes) {
      if (await isVisible(change)) {
        visible.push(change);
      }
    }
    return visible;
  }
}
