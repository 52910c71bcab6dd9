import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Realm } from './Realm';
import type { RealmOptions } from './RealmOptions';
import { startRealm } from './startRealm';
import { onEndingSignal, type EndingSignal } from './onEndingSignal';

/**
 * A terminal sends its Ctrl-C to the command as well. A second one would tell
 * many programs to hurry, so it follows only when the command goes on.
 */
const PATIENCE_MS = 5_000;

/** What a shell answers when a command cannot be run. */
const CANNOT_RUN = 127;

/**
 * Runs a command in a realm's environment, and the realm as long as the
 * command.
 *
 * @returns the command's exit status; 128 and the number of a signal that
 * ended it
 */
export async function runCommand(
  [program, ...args]: readonly string[],
  options: RealmOptions,
): Promise<number> {
  const ending = new AbortController();
  let child: ChildProcess | undefined;
  onEndingSignal(signal => {
    ending.abort(signal);
    passOn(signal, child);
  });
  let realm: Realm;
  try {
    realm = await startRealm({ ...options, signal: ending.signal });
  } catch (error) {
    if (ending.signal.aborted) {
      return statusAfter(ending.signal.reason);
    }
    throw error;
  }
  try {
    const env = { ...process.env, ...realm.env };
    child = spawn(program, args, { stdio: 'inherit', env });
    return await statusOf(child);
  } finally {
    await realm.stop();
  }
}

function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function passOn(signal: EndingSignal, child: ChildProcess | undefined): void {
  const patience = signal === 'SIGINT' && process.stdin.isTTY ? PATIENCE_MS : 0;
  const timer = setTimeout(() => child?.kill(signal), patience);
  child?.once('exit', () => clearTimeout(timer));
}

async function statusOf(child: ChildProcess): Promise<number> {
  try {
    const [code, signal] = await once(child, 'exit');
    return code ?? statusAfter(signal);
  } catch (error) {
    process.stderr.write(
      `realm: ${error instanceof Error ? error.message : error}\n`,
    );
    return CANNOT_RUN;
  }
}
