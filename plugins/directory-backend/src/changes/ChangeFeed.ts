import { CustomErrorBase } from '@backstage/errors';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallerContext } from '../directory/Caller';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type {
  Change,
  ChangedEntry,
  ChangeLog,
  ChangeLogState,
} from './ChangeLog';
import type { ComparePositions, Position } from './Position';

/** Maximum number of changes that one request reads. */
const MAX_SCANNED = 20_000;

/** Number of changes that one query reads. */
const CHANGES_PER_QUERY = 500;

/** Age of a change that servers are expected to have replicated. */
const REPLICATED_MS = 5000;

const CURSOR = /^(?<logId>[\da-f-]{36}) (?<after>\d{1,16})$/;

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

/** Position in a log, which a cursor contains. */
interface LogPosition {
  readonly logId: string;
  /** ID of the last change that was read. */
  readonly after: number;
}

/** Options of {@link ChangeFeed}. */
export interface ChangeFeedOptions {
  readonly log: ChangeLog;
  readonly directory: PrivateDirectory;
  /** Position that the directory's data have reached, if known. */
  readonly position: () => Position | undefined;
  readonly compare: ComparePositions;
}

/**
 * Reads the change log for callers. Applies the current rights of the caller
 * and the current visibility of each entry. Returns only changes that the
 * directory's data of this process contain.
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /**
   * Returns at most `limit` changes after a cursor; `undefined` when they have
   * been deleted or the cursor is not one of this log. Without a cursor, returns
   * no changes and the cursor of the end.
   *
   * @throws ChangeLogUnavailableError also instead of an empty result while the
   *   log is not being written, because changes may be missing.
   * @throws DirectoryUnavailableError while the directory cannot be read.
   */
  async read(options: {
    readonly cursor: string | undefined;
    readonly limit: number;
    readonly context: CallerContext;
  }): Promise<ChangePage | undefined> {
    const { cursor, limit, context } = options;
    const { directory } = this.#options;
    // Rejects while the directory cannot be read.
    await directory.countMembers({ groupnames: [] }, context);
    if (cursor === undefined) {
      return { changes: [], cursor: await this.#end(), hasMore: false };
    }
    const start = decodeCursor(cursor);
    const read = start && (await this.#readAfter(start, { limit, context }));
    return (
      read && {
        changes: read.changes,
        cursor: encodeCursor({ logId: start.logId, after: read.after }),
        hasMore: read.hasMore,
      }
    );
  }

  /** Returns visible changes; `undefined` for an expired position. */
  async #readAfter(
    start: LogPosition,
    options: { readonly limit: number; readonly context: CallerContext },
  ) {
    const { log, directory } = this.#options;
    const { limit, context } = options;
    const isShown = visibilityTest(directory, context);
    const changes: Change[] = [];
    let { after } = start;
    let hasMore = true;
    for (let scanned = 0; hasMore && scanned < MAX_SCANNED;) {
      const rows = await queryLog(() =>
        log.readAfter(after, CHANGES_PER_QUERY),
      );
      // Read last, so that changes deleted in the meantime are detected.
      const state = await this.#state();
      if (
        start.logId !== state.logId ||
        start.after < state.first ||
        start.after > state.last
      ) {
        return undefined;
      }
      hasMore = rows.length === CHANGES_PER_QUERY;
      for (const change of rows) {
        if (!this.#hasReached(change, state)) {
          return { changes, after, hasMore: false };
        }
        if (changes.length === limit) {
          return { changes, after, hasMore: true };
        }
        if (await isShown(change)) {
          changes.push(change);
        }
        after = change.id;
        scanned++;
      }
    }
    return { changes, after, hasMore };
  }

  /** Returns the cursor after the last change that the data contain. */
  async #end(): Promise<string> {
    const { log } = this.#options;
    const state = await this.#state();
    const { logId, first, last } = state;
    let after = last;
    for (;;) {
      const upTo = after;
      const rows = await queryLog(() => log.readUpTo(upTo, CHANGES_PER_QUERY));
      const index = rows.findIndex(change => this.#hasReached(change, state));
      const missing = index === -1 ? rows : rows.slice(0, index);
      after = missing.length > 0 ? missing[missing.length - 1].id - 1 : after;
      if (missing.length < CHANGES_PER_QUERY) {
        return encodeCursor({ logId, after: Math.max(first, after) });
      }
    }
  }

  /**
   * Whether the directory's data contain a change. Positions of two servers
   * cannot be compared.
   */
  #hasReached({ position, time }: Change, { now }: ChangeLogState): boolean {
    const { compare, position: present } = this.#options;
    const reached = present();
    switch (reached && compare(position, reached)) {
      case 'same':
      case 'later':
        return true;
      case 'other':
        return now.getTime() - time.getTime() >= REPLICATED_MS;
      default:
        return false;
    }
  }

  async #state(): Promise<ChangeLogState> {
    const state = await queryLog(() => this.#options.log.state());
    if (!state.isWritten) {
      throw new ChangeLogUnavailableError('The change log is not written');
    }
    return state;
  }
}

function encodeCursor({ logId, after }: LogPosition): string {
  return Buffer.from(`${logId} ${after}`).toString('base64url');
}

function decodeCursor(cursor: string): LogPosition | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const { groups } = CURSOR.exec(text) ?? {};
  return groups && { logId: groups.logId, after: Number(groups.after) };
}

/** Finds the entries that a caller may see. */
export type VisibleEntries = Pick<PrivateDirectory, 'getUser' | 'getGroup'>;

/**
 * Returns a function that tests whether a caller may see the entries of a
 * change. Only callers who may see every entry see deleted ones. Each entry is
 * looked up once, and other requests are served between lookups.
 */
export function visibilityTest(
  directory: VisibleEntries,
  context: CallerContext,
): (change: Change) => Promise<boolean> {
  const { visible } = context;
  const known = new Map<string, boolean>();
  return async ({ subject, member }) => {
    if (!visible) {
      return true;
    }
    for (const entry of [subject, ...(member ? [member] : [])]) {
      const id = `${entry.kind} ${entry.presentName ?? ''}`;
      if (!known.has(id)) {
        await nextTurn();
        known.set(id, await isEntryVisible(entry, directory, context));
      }
      if (!known.get(id)) {
        return false;
      }
    }
    return true;
  };
}

async function isEntryVisible(
  { kind, presentName }: ChangedEntry,
  directory: VisibleEntries,
  context: CallerContext,
): Promise<boolean> {
  const { visible } = context;
  const isRestricted = kind === 'user' ? visible?.users : visible?.groups;
  if (!isRestricted) {
    return true;
  }
  if (presentName === undefined) {
    return false;
  }
  const fields = new Set<never>();
  const entry =
    kind === 'user'
      ? await directory.getUser({ username: presentName, fields }, context)
      : await directory.getGroup({ groupname: presentName, fields }, context);
  return entry !== undefined;
}

/** @throws ChangeLogUnavailableError */
export async function queryLog<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    throw new ChangeLogUnavailableError('The change log cannot be read', error);
  }
}
