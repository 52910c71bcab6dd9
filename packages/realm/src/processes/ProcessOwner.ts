import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Account } from './Account';
import { PROGRAM_PATH } from './programs';

/** A program and how to run it. */
export interface Command {
  program: string;
  args: readonly string[];
  /** Whom to run as; the caller's own account when absent. */
  account?: Account;
  /** Added to the environment. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

/** Runs programs and knows all that still run, so that it can end every one. */
export class ProcessOwner {
  readonly #children = new Set<ChildProcess>();
  #closed = false;

  /** Starts a server; its standard error is piped, its other streams are closed. */
  start(command: Command): ChildProcess {
    return this.#spawn(command, ['ignore', 'ignore', 'pipe']);
  }

  /**
   * Runs a program to its end.
   *
   * @param input - what it reads from standard input
   * @returns what it wrote to standard output
   * @throws Error with the end of what it said, when it exits with a failure
   */
  async run(command: Command, input = ''): Promise<string> {
    const child = this.#spawn(command, ['pipe', 'pipe', 'pipe']);
    const { stdin, stdout, stderr } = child;
    if (!stdin || !stdout || !stderr) {
      throw new Error(`${command.program} was started without pipes`);
    }
    stdin.on('error', () => {}); // a program that ends early does not read all
    stdin.end(input);
    const [output, complaint, code] = await Promise.all([
      text(stdout),
      text(stderr),
      exitOf(child),
    ]);
    if (code !== 0) {
      const said = (complaint.trim() || output.trim()).slice(-2000);
      throw new Error(`${command.program} failed (${code}): ${said}`);
    }
    return output;
  }

  /** Ends every process at once, waits for each, and starts no more. */
  async killAll(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      [...this.#children].map(async child => {
        const gone = exitOf(child);
        child.kill('SIGKILL');
        await gone.catch(() => {});
      }),
    );
  }

  #spawn(
    { program, args, account, env, cwd }: Command,
    stdio: ('ignore' | 'pipe')[],
  ): ChildProcess {
    if (this.#closed) {
      throw new Error('The realm is being stopped');
    }
    const child = spawn(program, args, {
      stdio,
      cwd,
      env: { ...process.env, PATH: PROGRAM_PATH, ...env },
      ...(account?.drop && { uid: account.uid, gid: account.gid }),
    });
    this.#children.add(child);
    child.once('error', () => this.#children.delete(child));
    child.once('exit', () => this.#children.delete(child));
    return child;
  }
}

/** The exit code, or the signal that ended the process. */
export async function exitOf(child: ChildProcess): Promise<number | string> {
  if (child.exitCode === null && child.signalCode === null) {
    await once(child, 'exit');
  }
  return child.exitCode ?? child.signalCode ?? 'unknown';
}
