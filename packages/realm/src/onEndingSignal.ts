/** What ends a program from outside. */
export type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const SIGNALS: readonly EndingSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Calls back on every signal that would otherwise end this process. */
export function onEndingSignal(callback: (signal: EndingSignal) => void): void {
  for (const signal of SIGNALS) {
    process.on(signal, () => callback(signal));
  }
}
