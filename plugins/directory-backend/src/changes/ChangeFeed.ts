import type { LifecycleService } from '@backstage/backend-plugin-api';
import { CustomErrorBase } from '@backstage/errors';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import { actorOf, type CallerContext } from '../directory/Caller';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import { isUserField } from '../directory/schema';
import type { Change, ChangedEntry, ChangeLog } from './ChangeLog';
import type { ChangeCursors } from './ChangeCursors';

/** Maximum number of waiting requests, per caller and in total. */
const MAX_WAITING_PER_CALLER = 4;
const MAX_WAITING = 500;

/** Interval at which a waiting caller is verified again. */
const VERIFY_INTERVAL_MS = 5000;

/** Interval at which the log is polled for appends by other processes. */
const POLL_INTERVAL_MS = 500;

/** Maximum number of pages read to fill one page of visible changes. */
const MAX_PAGES = 10;

/** Too many requests are waiting for changes. */
export class TooManyWaitingError extends CustomErrorBase {
  name = 'TooManyWaitingError' as const;
}

/** The change log cannot be read, or is not being written. */
export class ChangeLogUnavailableError extends CustomErrorBase {
  name = 'ChangeLogUnavailableError' as const;
}

/** Changes that a caller may see. */
export interface ChangePage {
  readonly changes: readonly Change[];
  /** Cursor for the changes that follow. */
  readonly cursor: string;
  /** Whether more changes are available now. */
  readonly hasMore: boolean;
}

/** Result of {@link ChangeFeed.read}. */
export type ChangeFeedResult =
  | { readonly outcome: 'read'; readonly page: ChangePage }
  /** The cursor is not one of this API. */
  | { readonly outcome: 'invalid' }
  /** Changes after the cursor have been deleted, or the log was replaced. */
  | { readonly outcome: 'expired' };

/** A request for changes. */
export interface ChangeRequest {
  /** `undefined` requests the current cursor. */
  readonly cursor: string | undefined;
  readonly limit: number;
  /** Milliseconds to wait for a change. */
  readonly waitMs: number;
  readonly context: CallerContext;
  /** Authenticates and authorizes the caller again; rejects when that fails. */
  readonly verifyAgain: () => Promise<CallerContext>;
}

/**
 * Reads the change log for callers. Applies the current rights of the caller
 * and the current privacy of each user. Requests can wait for changes.
 */
export class ChangeFeed {
  readonly #log: ChangeLog;
  readonly #cursors: ChangeCursors;
  readonly #directory: PrivateDirectory;
  readonly #isLogging: () => boolean;
  /** Functions that end the pauses of waiting requests. */
  readonly #pauses = new Set<() => void>();
  /** Number of waiting requests by caller. */
  readonly #waiting = new Map<string, number>();
  #poller: NodeJS.Timeout | undefined;
  #lastPolled = 0;
  #isStopped = false;

  constructor(options: {
    readonly log: ChangeLog;
    readonly cursors: ChangeCursors;
    readonly directory: PrivateDirectory;
    /** Whether changes to data that callers read from now on will be logged. */
    readonly isLogging: () => boolean;
    readonly lifecycle: LifecycleService;
  }) {
    this.#log = options.log;
    this.#cursors = options.cursors;
    this.#directory = options.directory;
    this.#isLogging = options.isLogging;
    this.#log.onAppended(() => this.#endPauses());
    options.lifecycle.addShutdownHook(() => {
      this.#isStopped = true;
      this.#endPauses();
    });
  }

  /**
   * Reads changes after a cursor, and waits for one if there is none.
   *
   * @throws TooManyWaitingError
   * @throws ChangeLogUnavailableError also instead of an empty result while the
   *   log is not being written, because changes may be missing.
   * @throws DirectoryUnavailableError when private fields cannot be determined.
   */
  async read(request: ChangeRequest): Promise<ChangeFeedResult> {
    const { cursor } = request;
    if (cursor === undefined) {
      await this.#requireDirectory(request.context);
      this.#requireLogging();
      const { last } = await queryLog(() => this.#log.position());
      return this.#resultOf({ changes: [], after: last, hasMore: false });
    }
    const position = await this.#cursors.decrypt(cursor);
    if (!position) {
      return { outcome: 'invalid' };
    }
    if (position.logId !== this.#log.logId) {
      return { outcome: 'expired' };
    }
    const release = this.#admit(request);
    try {
      return await this.#readAfter(position.after, request);
    } finally {
      release();
    }
  }

  async #readAfter(
    start: number,
    { limit, waitMs, context, verifyAgain }: ChangeRequest,
  ): Promise<ChangeFeedResult> {
    const endsAt = performance.now() + waitMs;
    let after = start;
    let verified = context;
    for (;;) {
      const found = await this.#readVisible(after, {
        limit,
        context: verified,
      });
      if (!found) {
        return { outcome: 'expired' };
      }
      if (found.changes.length > 0 || found.hasMore) {
        return this.#resultOf(found);
      }
      const remainingMs = endsAt - performance.now();
      if (remainingMs <= 0 || context.signal.aborted || this.#isStopped) {
        this.#requireLogging();
        return this.#resultOf(found);
      }
      after = found.after;
      await this.#pause({
        ms: Math.min(remainingMs, VERIFY_INTERVAL_MS),
        signal: context.signal,
      });
      verified = await verifyAgain();
    }
  }

  /** Reads up to `limit` visible changes; `undefined` for an expired position. */
  async #readVisible(
    start: number,
    options: { readonly limit: number; readonly context: CallerContext },
  ) {
    const { limit, context } = options;
    await this.#requireDirectory(context);
    const changes: Change[] = [];
    const isShown = visibilityTest(this.#directory, context);
    let after = start;
    let hasMore = true;
    for (let page = 0; page < MAX_PAGES && hasMore; page++) {
      const query = { after, limit: limit - changes.length };
      const read = await queryLog(() => this.#log.read(query));
      if (!read) {
        return undefined;
      }
      for (const change of read.changes) {
        const visible =
          (await isShown(change)) && (await this.#present(change, context));
        if (visible) {
          changes.push(visible);
        }
      }
      after = read.last;
      hasMore = read.hasMore;
      if (changes.length === limit) {
        break;
      }
    }
    return { changes, after, hasMore };
  }

  /** Returns the part of a change that the caller may see now. */
  async #present(
    change: Change,
    context: CallerContext,
  ): Promise<Change | undefined> {
    const { subject, fields } = change;
    if (!fields || subject.kind === 'group') {
      return change;
    }
    const { caller } = context;
    const user =
      subject.presentName === undefined
        ? undefined
        : await this.#directory.getUser(
            {
              username: subject.presentName,
              fields: new Set(['is_private']),
            },
            context,
          );
    const visible = fields.filter(
      field =>
        isUserField(field) &&
        (user
          ? this.#directory.isVisible(field, { user, caller })
          : this.#directory.isVisibleOfAll(field, caller)),
    );
    return visible.length > 0 ? { ...change, fields: visible } : undefined;
  }

  /** Rejects while the directory cannot be read. */
  async #requireDirectory(context: CallerContext): Promise<void> {
    await this.#directory.countMembers({ groupnames: [] }, context);
  }

  #requireLogging(): void {
    if (!this.#isLogging()) {
      throw new ChangeLogUnavailableError('The change log is not written');
    }
  }

  async #resultOf(found: {
    readonly changes: readonly Change[];
    readonly after: number;
    readonly hasMore: boolean;
  }): Promise<ChangeFeedResult> {
    const { changes, after, hasMore } = found;
    const { logId } = this.#log;
    const cursor = await this.#cursors.encrypt({ logId, after });
    return { outcome: 'read', page: { changes, cursor, hasMore } };
  }

  /** Counts a request that may wait; returns the function that ends it. */
  #admit({ waitMs, context }: ChangeRequest): () => void {
    if (waitMs === 0) {
      return () => {};
    }
    const actor = actorOf(context.caller);
    const own = this.#waiting.get(actor) ?? 0;
    const all = [...this.#waiting.values()].reduce((a, b) => a + b, 0);
    if (own >= MAX_WAITING_PER_CALLER || all >= MAX_WAITING) {
      throw new TooManyWaitingError(
        'Too many requests are waiting for changes',
      );
    }
    this.#waiting.set(actor, own + 1);
    return () => {
      const left = this.#waiting.get(actor)! - 1;
      if (left > 0) {
        this.#waiting.set(actor, left);
      } else {
        this.#waiting.delete(actor);
      }
    };
  }

  /** Resolves after an append, a timeout, a disconnection or shutdown. */
  async #pause(options: {
    readonly ms: number;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const { ms, signal } = options;
    if (signal.aborted || this.#isStopped) {
      return;
    }
    this.#startPolling();
    const ended = new AbortController();
    const end = () => ended.abort();
    this.#pauses.add(end);
    await sleep(ms, undefined, {
      signal: AbortSignal.any([signal, ended.signal]),
    }).catch(() => {});
    this.#pauses.delete(end);
    if (this.#pauses.size === 0) {
      clearInterval(this.#poller);
      this.#poller = undefined;
    }
  }

  /** One query for all waiting requests finds the appends of other processes. */
  #startPolling(): void {
    this.#poller ??= setInterval(async () => {
      const last = await this.#log.position().then(
        position => position.last,
        // The waiting requests report the error.
        () => Infinity,
      );
      if (last !== this.#lastPolled) {
        this.#lastPolled = last;
        this.#endPauses();
      }
    }, POLL_INTERVAL_MS).unref();
  }

  #endPauses(): void {
    [...this.#pauses].forEach(end => end());
  }
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
