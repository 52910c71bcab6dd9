import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readFile, readdir } from 'node:fs/promises';

/** Debian keeps servers in sbin, which an ordinary user's PATH leaves out. */
export const PROGRAM_PATH = [process.env.PATH, '/usr/sbin', '/sbin']
  .filter(Boolean)
  .join(delimiter);

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

const execFileAsync = promisify(execFile);

/** The ordinary user that the servers run as. */
export interface Account {
  name: string;
  group: string;
  uid: number;
  gid: number;
  /** Whether a process must change to it, because the caller is root. */
  drop: boolean;
}

/**
 * As an ordinary user: oneself. As root: `dirsrv`, the account of Debian's
 * 389-ds-base, or `nobody` where that does not exist.
 *
 * @throws Error when root has nobody to become
 */
export async function findAccount(): Promise<Account> {
  const { username, uid } = userInfo();
  const candidates = uid === 0 ? ['dirsrv', 'nobody'] : [username];
  for (const name of candidates) {
    try {
      return { ...(await lookUp(name)), drop: uid === 0 };
    } catch {
      continue; // `id` knows no such account: try the next
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

/** The programs a realm is made of, and the Debian package that brings each. */
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

/**
 * @throws Error with one line that names every missing program and the
 * packages to install
 */
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

/** The path of a program, if it is installed. */
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
 * Ends the processes that have this folder in their command line: `dscreate`
 * starts a server that detaches itself, so it is nobody's child. Only for a
 * folder that nobody else knows of.
 */
export async function endStrays(folder: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter(name =>
    /^\d+$/.test(name),
  )) {
    if ((await commandLine(pid)).includes(folder)) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        continue; // it has ended by itself
      }
    }
  }
}

async function commandLine(pid: string): Promise<string> {
  try {
    return await readFile(join('/proc', pid, 'cmdline'), 'utf8');
  } catch {
    return ''; // it has ended by itself
  }
}
