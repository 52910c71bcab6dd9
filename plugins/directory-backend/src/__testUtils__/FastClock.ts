import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/**
 * A clock that runs several times as fast as the machine's clock, for processes
 * with its environment (libfaketime). All of them share the same time.
 */
export class FastClock {
  /** Environment that makes the wall clock and all timers of a process fast. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Environment that makes only the wall clock fast; timeouts keep their speed.
   */
  readonly wallClockEnv: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;

  /**
   * Starts the clock.
   *
   * @throws Error when Debian's `faketime` is missing or fails.
   */
  static async start(speed: number): Promise<FastClock> {
    // The child shares its start time with other processes until it exits, when
    // its standard input is closed.
    const child = spawn(
      'faketime',
      ['-f', `+0 x${speed}`, 'sh', '-c', 'env; echo; cat'],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    let output = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      output += text;
      if (output.endsWith('\n\n')) {
        return new FastClock(child, output);
      }
    }
    throw new Error(`faketime failed: ${output}`);
  }

  private constructor(child: ChildProcess, output: string) {
    this.#child = child;
    this.env = Object.fromEntries(
      output
        .split('\n')
        .filter(line => /^(FAKETIME|LD_PRELOAD)/.test(line))
        .map(line => [
          line.slice(0, line.indexOf('=')),
          line.slice(line.indexOf('=') + 1),
        ]),
    );
    this.wallClockEnv = { ...this.env, DONT_FAKE_MONOTONIC: '1' };
  }

  async stop(): Promise<void> {
    this.#child.stdin!.end();
    await once(this.#child, 'exit');
  }
}
