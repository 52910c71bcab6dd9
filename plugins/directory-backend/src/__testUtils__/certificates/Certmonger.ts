import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually';

const run = promisify(execFile);

/**
 * A bus without service activation; the system's bus would start certmonger.
 */
const busConfig = (socket: string) => `<busconfig>
  <type>session</type>
  <listen>unix:path=${socket}</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;

/** Debian's certmonger with a separate state and session bus. */
export class Certmonger {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #daemonEnv: NodeJS.ProcessEnv;
  readonly #output: string[] = [];
  #children: readonly ChildProcess[] = [];

  /** Creates a stopped certmonger in an empty folder. */
  static async create(options: {
    readonly folder: string;
    /** Added to the environment of the daemon; its helpers do not inherit it. */
    readonly env: Readonly<Record<string, string>>;
    /** The `defaults` section of certmonger.conf. */
    readonly defaults: Readonly<Record<string, string>>;
  }): Promise<Certmonger> {
    const { folder, env, defaults } = options;
    for (const name of ['cas', 'requests', 'local', 'tmp']) {
      await mkdir(join(folder, name), { recursive: true });
    }
    const lines = Object.entries(defaults).map(pair => pair.join(' = '));
    await writeFile(
      join(folder, 'certmonger.conf'),
      ['[defaults]', ...lines, ''].join('\n'),
    );
    await writeFile(
      join(folder, 'bus.conf'),
      busConfig(join(folder, 'bus.socket')),
    );
    return new Certmonger(folder, env);
  }

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#env = {
      ...process.env,
      PATH: `${process.env.PATH}:/usr/sbin`,
      HOME: folder,
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, 'bus.socket')}`,
      CERTMONGER_CONFIG_DIR: folder,
      CERTMONGER_CAS_DIR: join(folder, 'cas'),
      CERTMONGER_REQUESTS_DIR: join(folder, 'requests'),
      CERTMONGER_LOCAL_CA_DIR: join(folder, 'local'),
      CERTMONGER_TMPDIR: join(folder, 'tmp'),
      CERTMONGER_SYSTEM_LOCK_FILE: join(folder, 'lock'),
    };
    this.#daemonEnv = { ...this.#env, ...env };
  }

  /** Starts the bus and the daemon, and waits until the daemon responds. */
  async start(): Promise<void> {
    const busArgs = [`--config-file=${join(this.#folder, 'bus.conf')}`];
    const bus = this.#spawn(['dbus-daemon', '--nofork', ...busArgs], this.#env);
    this.#children = [bus];
    await eventually(() => access(join(this.#folder, 'bus.socket')));
    const command = ['certmonger', '-s', '-n'];
    this.#children = [this.#spawn(command, this.#daemonEnv), bus];
    await eventually(() => this.getcert('list-cas'));
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
    }
    this.#children = [];
  }

  /** Runs a `getcert` command and returns its output. */
  async getcert(
    command: string,
    args: readonly string[] = [],
  ): Promise<string> {
    const { stdout } = await run('getcert', [command, '-s', ...args], {
      env: this.#env,
    });
    return stdout;
  }

  /** Output of the daemon, its helpers and the bus. */
  log(): string {
    return this.#output.join('');
  }

  #spawn(command: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    // The kernel kills the child when this process exits (prctl(2)).
    const child = spawn('setpriv', ['--pdeathsig=KILL', ...command], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', text => this.#output.push(text));
    }
    return child;
  }
}
