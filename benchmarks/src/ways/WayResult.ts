import type { Ages } from '../age/measureAge';
import type { Memory } from '../portal/Portal';
import type { PortalVariant } from '../portal/portalCommand';

/** What is told once of a portal, besides its rows. */
export interface WayResult {
  readonly variant: PortalVariant;
  /** How it started; `null` for a portal that knows no directory. */
  readonly start: StartResult | null;
  /** How many requests it has answered. */
  readonly requests: number;
  readonly memoryAtStart: Memory;
  readonly memoryAfterLoad: Memory;
  /** How late writes were seen; `null` when none were made. */
  readonly ages: Ages | null;
}

/** Times are from the start of the portal's process. */
export interface StartResult {
  /** Milliseconds to the first right answer about a user, with a ticket. */
  readonly firstAnswerMs: number;
  /** Milliseconds to the replica's first sync. */
  readonly copiedMs: number;
  /**
   * Delay of the event loop's timers between the two, in milliseconds: 99th
   * percentile and maximum.
   */
  readonly loopDelayMs: number;
  readonly maxLoopDelayMs: number;
}
