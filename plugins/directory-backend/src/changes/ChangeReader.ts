import { CustomErrorBase } from '@backstage/errors';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CallerContext,
  type Page,
  type PageRequest,
  type PrivateDirectory,
  slicePage,
} from '@directory-gateway/directory-core';
import {
  CATCH_UP_MS,
  type Change,
  type ChangeKind,
  type ChangeLog,
  type ComparePositions,
  type EntryKind,
  type Position,
} from './ChangeLog';

/** Maximum number of changes that one request reads. */
const MAX_SCANNED = 20_000;

/** Number of changes that one query reads. */
const CHANGES_PER_QUERY = 500;

/** Maximum number of changes in a history; older ones are omitted. */
const MAX_HISTORY = 1000;

/** Age of a change that servers are expected to have replicated. */
const REPLICATED_MS = 5000;

const CURSOR = /^(?<logId>[\da-f-]{36}) (?<after>\d{1,16})$/;

/** Kinds of changes in histories. Locks are not among them. */
const HISTORY_KINDS: readonly ChangeKind[] = [
  'user_created',
  'user_renamed',
  'group_created',
  'group_renamed',
  'member_added',
  'member_removed',
  'members_changed',
];

/** The change log cannot be read, or is not being written. */
export class ChangeLogUnavailableError extends CustomErrorBase {
  name = 'ChangeLogUnavailableError' as const;
}

/** Changes that a caller may see. */
export interface ChangePage {
  readonly changes: readonly Change[];
  /** Cursor for the changes that follow. */
  readonly cursor: string;
  /** Whether more changes may be available now. */
  readonly hasMore: boolean;
}

type LogState = Awaited<ReturnType<ChangeLog['state']>>;

/**
 * Reads the change log for callers. Applies the current rights of the caller
 * and the current visibility of each entry. Every method rejects with
 * {@link ChangeLogUnavailableError} while changes may be missing.
 */
export class ChangeReader {
  readonly #options;

  constructor(options: {
    readonly log: ChangeLog;
    readonly directory: PrivateDirectory;
    /** Position that the directory's data have reached, if known. */
    readonly position: () => Position | undefined;
    readonly compare: ComparePositions;
  }) {
    this.#options = options;
  }

  /**
   * Returns at most `limit` changes after a cursor; `undefined` when they have
   * been deleted or the cursor is not one of this log. Without a cursor, returns
   * no changes and the cursor of the end. Returns only changes that the
   * directory's data of this process contain, or that are ten minutes old.
   *
   * @throws DirectoryUnavailableError while the directory cannot be read.
   */
  async read(options: {
    readonly cursor: string | undefined;
    readonly limit: number;
    readonly context: CallerContext;
  }): Promise<ChangePage | undefined> {
    const { cursor, limit, context } = options;
    const { log, directory } = this.#options;
    // Rejects while the directory cannot be read.
    await directory.countMembers({ groupnames: [] }, context);
    if (cursor === undefined) {
      return { changes: [], cursor: await this.#end(), hasMore: false };
    }
    const { groups: start } =
      CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? {};
    const isShown = visibilityTest(directory, context);
    const changes: Change[] = [];
    let after = Number(start?.after);
    const page = (hasMore: boolean) => ({
      changes,
      cursor: encodeCursor(start!.logId, after),
      hasMore,
    });
    for (let scanned = 0; start && scanned < MAX_SCANNED;) {
      const rows = await queryLog(log.readAfter(after, CHANGES_PER_QUERY));
      // Read last, so that changes deleted in the meantime are detected.
      const state = await this.#state();
      const { logId, first, last } = state;
      if (start.logId !== logId || after < first || after > last) {
        return undefined;
      }
      for (const change of rows) {
        if (!this.#hasReached(change, state)) {
          return page(false);
        }
        if (changes.length === limit) {
          return page(true);
        }
        if (await isShown(change)) {
          changes.push(change);
        }
        after = change.id;
        scanned++;
      }
      if (rows.length < CHANGES_PER_QUERY) {
        return page(false);
      }
    }
    return start && page(true);
  }

  /** Returns a page of an entry's latest changes, latest first. */
  async historyOf(
    entry: {
      readonly kind: EntryKind;
      /** In the directory's spelling. */
      readonly name: string;
    },
    page: PageRequest,
    context: CallerContext,
  ): Promise<Page<Change>> {
    const { log, directory } = this.#options;
    await this.#requireComplete();
    const options = { kinds: HISTORY_KINDS, limit: MAX_HISTORY };
    const changes = await queryLog(log.readOf(entry, options));
    const isShown = visibilityTest(directory, context);
    const visible: Change[] = [];
    for (const change of changes) {
      if (await isShown(change)) {
        visible.push(change);
      }
    }
    return { items: slicePage(visible, page), total: visible.length };
  }

  /**
   * Returns when the direct members of a group were added, by user name. Omits
   * users who were members before the log began; includes users who are hidden
   * from a caller.
   *
   * @param groupname - In the directory's spelling.
   * @param usernames - Only these members. Default: all.
   */
  async joinTimesOf(
    groupname: string,
    usernames?: readonly string[],
  ): Promise<ReadonlyMap<string, Date>> {
    await this.#requireComplete();
    return queryLog(this.#options.log.joinTimesOf(groupname, usernames));
  }

  /** Returns the cursor before the first change that the data may lack. */
  async #end(): Promise<string> {
    const { log } = this.#options;
    const state = await this.#state();
    let end = state.last;
    for (let last = end; ;) {
      const rows = await queryLog(log.readUpTo(last, CHANGES_PER_QUERY));
      const missing = rows.findLast(change => !this.#hasReached(change, state));
      if (!missing) {
        return encodeCursor(state.logId, Math.max(state.first, end));
      }
      end = missing.id - 1;
      last = rows.at(-1)!.id - 1;
    }
  }

  /**
   * Whether the directory's data contain a change. Positions of two servers
   * cannot be compared. A server that was restored from a backup may not reach
   * its earlier position for a long time.
   */
  #hasReached({ position, time }: Change, { now }: LogState): boolean {
    const { compare, position: present } = this.#options;
    const reached = present();
    const age = now.getTime() - time.getTime();
    switch (reached && compare(position, reached)) {
      case 'same':
      case 'later':
        return true;
      case 'other':
        return age >= REPLICATED_MS;
      case 'earlier':
        return age >= CATCH_UP_MS;
      default:
        return false;
    }
  }

  async #state(): Promise<LogState> {
    const state = await this.#requireComplete();
    if (!state.isWritten) {
      throw new ChangeLogUnavailableError('The change log is not written');
    }
    return state;
  }

  async #requireComplete(): Promise<LogState> {
    const state = await queryLog(this.#options.log.state());
    if (!state.isComplete) {
      throw new ChangeLogUnavailableError(
        'The change log does not contain all entries yet',
      );
    }
    return state;
  }
}

function encodeCursor(logId: string, after: number): string {
  return Buffer.from(`${logId} ${after}`).toString('base64url');
}

/**
 * Returns a function that tests whether a caller may see the entries of a
 * change. Only callers who may see every entry see deleted ones. Each entry is
 * looked up once, and other requests are served between lookups.
 */
function visibilityTest(
  directory: PrivateDirectory,
  context: CallerContext,
): (change: Change) => Promise<boolean> {
  const { users, groups } = context.visible ?? {};
  const known = new Map<string, boolean>();
  const fields = new Set<never>();
  const isVisible = async (kind: EntryKind, name: string | null) => {
    if (!(kind === 'user' ? users : groups)) {
      return true;
    }
    if (name === null) {
      return false;
    }
    const id = `${kind} ${name}`;
    if (!known.has(id)) {
      await nextTurn();
      const entry =
        kind === 'user'
          ? await directory.getUser({ username: name, fields }, context)
          : await directory.getGroup({ groupname: name, fields }, context);
      known.set(id, entry !== undefined);
    }
    return known.get(id)!;
  };
  return async ({ kind, present_name, member_kind, member_present_name }) =>
    (await isVisible(
      kind.startsWith('user_') ? 'user' : 'group',
      present_name,
    )) &&
    (!member_kind || (await isVisible(member_kind, member_present_name)));
}

/** @throws ChangeLogUnavailableError */
async function queryLog<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw new ChangeLogUnavailableError('The change log cannot be read', error);
  }
}
