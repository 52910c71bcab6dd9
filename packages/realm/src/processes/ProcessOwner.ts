import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readFile, readdir } from 'node:fs/promises';

/** Debian's servers are in sbin, which is not in an ordinary user's PATH. */
const PROGRAM_PATH = [process.env.PATH, '/usr/sbin', '/sbin']
  .filter(Boolean)
  .join(delimiter);

/** A program with its arguments, account and environment. */
export interface Command {
  program: string;
  args: readonly string[];
  /** Default: the account of the caller. */
  account?: Account;
  /** Added to the environment. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

/** Runs programs, and can kill those that are still running. */
export class ProcessOwner {
  readonly #children = new Set<ChildProcess>();
  #closed = false;

  /** Starts a server; only its standard error is piped. */
  start(command: Command): ChildProcess {
    return this.#spawn(command, ['ignore', 'ignore', 'pipe']);
  }

  /**
   * Runs a program until it exits.
   *
   * @param input - content of its standard input
   * @returns content of its standard output
   * @throws Error with the end of its output when the program fails
   */
  async run(command: Command, input = ''): Promise<string> {
    const child = this.#spawn(command, ['pipe', 'pipe', 'pipe']);
    const { stdin, stdout, stderr } = child;
    if (!stdin || !stdout || !stderr) {
      throw new Error(`${command.program} was started without pipes`);
    }
    stdin.on('error', () => {}); // the program may exit before it has read all input
    stdin.end(input);
    const [output, errors, code] = await Promise.all([
      text(stdout),
      text(stderr),
      exitOf(child),
    ]);
    if (code !== 0) {
      const message = (errors.trim() || output.trim()).slice(-2000);
      throw new Error(`${command.program} failed (${code}): ${message}`);
    }
    return output;
  }

  /** Kills all processes and waits for them; no more can be started. */
  async killAll(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      [...this.#children].map(async child => {
        const exit = exitOf(child);
        child.kill('SIGKILL');
        await exit.catch(() => {});
      }),
    );
  }

  #spawn(
    { program, args, account, env, cwd }: Command,
    stdio: ('ignore' | 'pipe')[],
  ): ChildProcess {
    if (this.#closed) {
      throw new Error('The realm is stopping');
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

/** Returns the exit code or the signal of a process. */
export async function exitOf(child: ChildProcess): Promise<number | string> {
  if (child.exitCode === null && child.signalCode === null) {
    await once(child, 'exit');
  }
  return child.exitCode ?? child.signalCode ?? 'unknown';
}

const execFileAsync = promisify(execFile);

/** An account that servers run as. */
export interface Account {
  name: string;
  group: string;
  uid: number;
  gid: number;
  /** Whether the caller is root, so that processes change to it. */
  drop: boolean;
}

/**
 * Returns an ordinary user's own account and, for root, the first of the
 * candidates that exists. Default candidates: `dirsrv`, of Debian's
 * 389-ds-base, and `nobody`.
 *
 * @throws Error when root has no other account
 */
export async function findAccount(
  forRoot: readonly string[] = ['dirsrv', 'nobody'],
): Promise<Account> {
  const { username, uid } = userInfo();
  const candidates = uid === 0 ? forRoot : [username];
  for (const name of candidates) {
    try {
      return { ...(await lookUp(name)), drop: uid === 0 };
    } catch {
      continue;
    }
  }
  throw new Error(
    `No account to run the servers as (tried ${candidates.join(', ')})`,
  );
}

async function lookUp(name: string): Promise<Omit<Account, 'drop'>> {
  const [uid, gid, group] = await Promise.all(
    ['-u', '-g', '-gn'].map(async what => {
      const { stdout } = await execFileAsync('id', [what, name]);
      return stdout.trim();
    }),
  );
  return { name, group, uid: Number(uid), gid: Number(gid) };
}

/** Programs of a realm, and the Debian package of each. */
const PACKAGES: Readonly<Record<string, string>> = {
  'ns-slapd': '389-ds-base',
  dscreate: '389-ds-base',
  certutil: 'libnss3-tools',
  pk12util: 'libnss3-tools',
  krb5kdc: 'krb5-kdc',
  kdb5_util: 'krb5-kdc',
  'kadmin.local': 'krb5-admin-server',
  kinit: 'krb5-user',
  ldapmodify: 'ldap-utils',
  openssl: 'openssl',
};

/** @throws Error with all missing programs and their packages */
export function requirePrograms(): void {
  const missing = Object.keys(PACKAGES).filter(
    program => !findProgram(program),
  );
  if (missing.length > 0) {
    const packages = new Set(missing.map(program => PACKAGES[program]));
    throw new Error(
      `Missing ${missing.join(', ')}: install with "apt-get install ${[
        ...packages,
      ].join(' ')}"`,
    );
  }
}

/** Returns the path of an installed program. */
export function findProgram(program: string): string | undefined {
  return PROGRAM_PATH.split(delimiter)
    .map(folder => join(folder, program))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Kills the processes with a private folder in their command line: `dscreate`
 * starts a server that daemonizes.
 */
export async function killOrphans(folder: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter(name =>
    /^\d+$/.test(name),
  )) {
    if ((await commandLine(pid)).includes(folder)) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        continue; // it has exited
      }
    }
  }
}

async function commandLine(pid: string): Promise<string> {
  try {
    return await readFile(join('/proc', pid, 'cmdline'), 'utf8');
  } catch {
    return ''; // it has exited
  }
}
