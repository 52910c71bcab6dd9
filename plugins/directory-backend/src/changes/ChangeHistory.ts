import type { CallerContext } from '../directory/Caller';
import { type Page, type PageRequest, slicePage } from '../directory/Page';
import type { Change, ChangeKind, ChangeLog } from './ChangeLog';
import { queryLog, type VisibleEntries, visibilityTest } from './ChangeFeed';

/** Maximum number of changes in a history; older ones are omitted. */
const MAX_CHANGES = 10_000;

const ALL: PageRequest = { number: 1, size: MAX_CHANGES };

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
   * Returns a page of the changes to a group's members and name, latest first.
   *
   * @param groupname - In the directory's spelling.
   * @throws ChangeLogUnavailableError
   */
  ofGroup(
    groupname: string,
    { page }: { readonly page: PageRequest },
    context: CallerContext,
  ): Promise<Page<Change>> {
    return this.#read(
      { kind: 'group', name: groupname, kinds: GROUP_CHANGES, page },
      context,
    );
  }

  /**
   * Returns when the direct members of a group were added, by user name. Omits
   * users who were members before the log began; includes users who are hidden
   * from a caller.
   *
   * @param groupname - In the directory's spelling.
   * @param usernames - Only these members. Default: all.
   * @throws ChangeLogUnavailableError
   */
  joinTimesOf(
    groupname: string,
    usernames?: readonly string[],
  ): Promise<ReadonlyMap<string, Date>> {
    return queryLog(() => this.#log.joinTimesOf(groupname, usernames));
  }

  /**
   * Returns a page of the changes to a user's name, direct memberships and, if
   * requested, locks, latest first.
   *
   * @param username - In the directory's spelling.
   * @throws ChangeLogUnavailableError
   */
  ofUser(
    username: string,
    options: { readonly withLocks: boolean; readonly page: PageRequest },
    context: CallerContext,
  ): Promise<Page<Change>> {
    const { withLocks, page } = options;
    const kinds = [...USER_CHANGES, ...(withLocks ? LOCK_CHANGES : [])];
    return this.#read({ kind: 'user', name: username, kinds, page }, context);
  }

  async #read(
    query: {
      readonly kind: 'user' | 'group';
      readonly name: string;
      readonly kinds: readonly ChangeKind[];
      readonly page: PageRequest;
    },
    context: CallerContext,
  ): Promise<Page<Change>> {
    const listed = { ...query, max: MAX_CHANGES };
    if (!context.visible) {
      return queryLog(() => this.#log.changesOf(listed));
    }
    const { items } = await queryLog(() =>
      this.#log.changesOf({ ...listed, page: ALL }),
    );
    const isVisible = visibilityTest(this.#directory, context);
    const visible: Change[] = [];
    for (const change of items) {
      if (await isVisible(change)) {
        visible.push(change);
      }
    }
    return { items: slicePage(visible, query.page), total: visible.length };
  }
}
