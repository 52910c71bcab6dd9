import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PACKAGE_FOLDER } from './realmFiles';

/** Folders of this process that exist, and the process that removes them. */
const folders = new Set<string>();
let supervisor: { id: string; process: ChildProcess } | undefined;

/** A program with its arguments. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/**
 * Runs a program until it exits.
 *
 * @param input - content of its standard input
 * @returns content of its standard output
 * @throws Error with the end of its output when the program fails
 */
export async function run(command: Command, input = ''): Promise<string> {
  const { program, args, ...options } = command;
  const running = promisify(execFile)(program, args, {
    ...options,
    env: environmentOf(command),
    maxBuffer: Infinity,
  });
  const { stdin } = running.child;
  stdin?.on('error', () => {}); // it may exit before it has read all input
  stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = error as Error & {
      readonly stdout?: string;
      readonly stderr?: string;
    };
    const reason = (stderr.trim() || stdout.trim() || message).slice(-2000);
    throw new Error(`${program} failed: ${reason}`, { cause: error });
  }
}

/** Returns the environment of a program. Debian's servers are in sbin. */
export function environmentOf({ env }: Command): NodeJS.ProcessEnv {
  const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
  return { ...process.env, PATH, ...env, REALM_SUPERVISOR: supervisor?.id };
}

/**
 * Creates a private folder. When this process exits or is killed, the
 * supervisor ends the programs that it has started, and removes the folder.
 */
export async function createFolder(
  prefix: string,
  parent = tmpdir(),
): Promise<string> {
  const folder = await mkdtemp(join(await realpath(parent), prefix));
  folders.add(folder);
  supervisor ??= startSupervisor();
  supervisor.process.stdin?.write(`${folder}\n`);
  return folder;
}

/** Removes a folder. The supervisor ends with the last one. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.delete(folder);
  if (folders.size === 0) {
    supervisor?.process.stdin?.end();
    supervisor = undefined;
  }
}

/** Starts a process that outlives this one, but does not keep it alive. */
function startSupervisor() {
  // In the environment of the programs that it ends.
  const id = randomUUID();
  const child = spawn(
    process.execPath,
    [join(PACKAGE_FOLDER, 'src/supervisor.mjs'), id],
    { stdio: ['pipe', 'ignore', 'inherit'], detached: true },
  );
  child.unref();
  (child.stdin as Socket).unref();
  return { id, process: child };
}
