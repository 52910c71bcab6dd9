/** A stopped `performance.now()` that a test can advance. */
export interface StoppedClock {
  advance(ms: number): void;
  /** Lets the clock run again. */
  restore(): void;
}

/** Stops `performance.now()`; timers are not affected. */
export function stopClock(): StoppedClock {
  let now = performance.now();
  const mock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  return {
    advance: ms => {
      now += ms;
    },
    restore: () => mock.mockRestore(),
  };
}
