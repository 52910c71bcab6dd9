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
  /** Milliseconds until it answers from a copy; `null` when it has none. */
  readonly copiedMs: number | null;
  /**
   * How late the event loop's timers were between the two, or in some seconds
   * after the first answer of a portal that copies nothing: the 99th percentile
   * and the longest, in milliseconds.
   */
  readonly loopDelayMs: number;
  readonly maxLoopDelayMs: number;
}
