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
  'members_changed',
];

const USER_CHANGES: readonly ChangeKind[] = [
  'user_created',
  'user_renamed',
  'member_added',
  'member_removed',
];

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
    return queryLog(async () => {
      await this.#requireComplete();
      return this.#log.joinTimesOf(groupname, usernames);
    });
  }

  /**
   * Returns a page of the changes to a user's name and memberships, latest
   * first.
   *
   * @param username - In the directory's spelling.
   * @throws ChangeLogUnavailableError
   */
  ofUser(
    username: string,
    { page }: { readonly page: PageRequest },
    context: CallerContext,
  ): Promise<Page<Change>> {
    return this.#read(
      { kind: 'user', name: username, kinds: USER_CHANGES, page },
      context,
    );
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
    const readPage = (page: PageRequest) =>
      queryLog(async () => {
        await this.#requireComplete();
        return this.#log.changesOf({ ...query, max: MAX_CHANGES, page });
      });
    if (!context.visible) {
      return readPage(query.page);
    }
    const { items } = await readPage(ALL);
    const isVisible = visibilityTest(this.#directory, context);
    const visible: Change[] = [];
    for (const change of items) {
      if (await isVisible(change)) {
        visible.push(change);
      }
    }
    return { items: slicePage(visible, query.page), total: visible.length };
  }

  /** Rejects before all entries are recorded, because changes are missing. */
  async #requireComplete(): Promise<void> {
    const { isComplete } = await this.#log.state();
    if (!isComplete) {
      throw new Error('The change log does not contain all entries yet');
    }
  }
}
