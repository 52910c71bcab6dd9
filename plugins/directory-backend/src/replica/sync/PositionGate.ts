import type { LoggerService } from '@backstage/backend-plugin-api';
import type { CurrentPosition as ConfirmedSync } from './ReplicaSource';

/** Maximum wait for a server that may lag behind, as in `HeldValues`. */
const MAX_UNKNOWN_MS = 10 * 60_000;

/** Position of the replica at an earlier sync, as JSON. */
export interface RecordedPosition {
  readonly server: string;
  readonly usn?: number;
}

/** The position of a sync. */
export function positionOf({ server, value }: ConfirmedSync): RecordedPosition {
  return { server, usn: value === undefined ? undefined : parseInt(value, 10) };
}

/**
 * Waits until a server has all changes that another server had at a recorded
 * position, so that a server that lags behind does not revert decisions.
 */
export class PositionGate {
  readonly #logger: LoggerService;
  readonly #subject: string;
  #waitingSince: number | undefined;

  /**
   * @param options.subject - subject of the log line, such as `The change log`
   */
  constructor(options: {
    readonly logger: LoggerService;
    readonly subject: string;
  }) {
    this.#logger = options.logger;
    this.#subject = options.subject;
  }

  /**
   * Returns whether the server has all changes or the maximum wait has passed.
   */
  hasReached(
    position: RecordedPosition | undefined,
    sync: ConfirmedSync,
  ): boolean {
    const coverage = position ? coverageOfPosition(position, sync) : 'covered';
    if (coverage !== 'covered') {
      const maxMs = MAX_UNKNOWN_MS;
      const now = performance.now();
      this.#waitingSince ??= now;
      if (now - this.#waitingSince < maxMs) {
        if (this.#waitingSince === now) {
          this.#logger.info(
            `${this.#subject} waits until ${
              sync.server
            } has caught up with replication`,
          );
        }
        return false;
      }
    }
    this.#waitingSince = undefined;
    return true;
  }
}

function coverageOfPosition(
  position: RecordedPosition,
  sync: ConfirmedSync,
): 'covered' | 'unknown' {
  const { usn = Infinity } = positionOf(sync);
  return position.server === sync.server && (position.usn ?? 0) <= usn
    ? 'covered'
    : 'unknown';
}
