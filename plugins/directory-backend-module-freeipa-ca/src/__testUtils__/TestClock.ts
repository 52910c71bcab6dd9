import type { Clock } from '../Clock';

/** A clock that advances only when a test or a pause advances it. */
export class TestClock implements Clock {
  /** Called at the beginning of each pause, which waits for it. */
  onDelay: () => void | Promise<void> = () => {};
  #now = 0;
  #deadlines = new Array<{ at: number; controller: AbortController }>();

  now(): number {
    return this.#now;
  }

  timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    this.#deadlines.push({ at: this.#now + ms, controller });
    return controller.signal;
  }

  /** Advances the clock instead of waiting. */
  async delay(ms: number, signal: AbortSignal): Promise<void> {
    await this.onDelay();
    if (!signal.aborted) {
      this.advance(ms);
    }
  }

  /**
   * Advances the clock by `ms` milliseconds and aborts signals that are due.
   */
  advance(ms: number): void {
    this.#now += ms;
    const isDue = ({ at }: { at: number }) => at <= this.#now;
    const due = this.#deadlines.filter(isDue);
    this.#deadlines = this.#deadlines.filter(deadline => !isDue(deadline));
    for (const { controller } of due) {
      controller.abort(new DOMException('The time is up', 'TimeoutError'));
    }
  }

  /** Advances the clock to the next deadline. */
  advanceToDeadline(): void {
    const next = Math.min(...this.#deadlines.map(({ at }) => at));
    if (Number.isFinite(next)) {
      this.advance(next - this.#now);
    }
  }
}
