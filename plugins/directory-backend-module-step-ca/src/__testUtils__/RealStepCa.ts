import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { buildStepCa } from './buildStepCa';
import { provisionerOf } from './settings';
import { StepCaFiles } from './StepCaFiles';

const run = promisify(execFile);

/** A step-ca process on `localhost` with its own root and database. */
export class RealStepCa {
  readonly files: StepCaFiles;
  readonly version: string;
  readonly url: string;
  readonly #port: number;
  readonly #program: string;
  #child: ChildProcess | undefined;

  static async start(): Promise<RealStepCa> {
    const files = await StepCaFiles.create();
    const stepCa = new RealStepCa({
      files,
      port: await findFreePort(),
      ...(await buildStepCa()),
    });
    await stepCa.configure();
    await stepCa.resume();
    return stepCa;
  }

  private constructor(options: {
    readonly files: StepCaFiles;
    readonly port: number;
    readonly program: string;
    readonly version: string;
  }) {
    this.files = options.files;
    this.#port = options.port;
    this.url = `https://localhost:${options.port}`;
    this.version = options.version;
    this.#program = options.program;
  }

  /** Writes `ca.json`, for the next start of the process. */
  async configure(
    change: (
      provisioner: Awaited<ReturnType<typeof provisionerOf>>,
    ) => object = provisioner => provisioner,
  ): Promise<void> {
    const { files } = this;
    const settings = {
      root: files.rootFile,
      crt: files.path('intermediate.pem'),
      key: files.path('intermediate.key'),
      address: `127.0.0.1:${this.#port}`,
      dnsNames: ['localhost'],
      db: { type: 'badgerv2', dataSource: files.path('db') },
      authority: { provisioners: [change(await provisionerOf(files))] },
    };
    await files.write('ca.json', JSON.stringify(settings));
  }

  /** Starts the process again after {@link pause}. */
  async resume(): Promise<void> {
    const child = spawn(this.#program, [this.files.path('ca.json')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    for await (const line of createInterface({ input: child.stderr })) {
      if (line.includes('Serving HTTPS')) {
        child.stderr.resume();
        return;
      }
    }
    throw new Error('step-ca did not start');
  }

  /** Stops the process; its database remains. */
  async pause(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child && child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    }
  }

  /** Returns serial numbers in the database of the stopped process. */
  async list(
    table: 'x509_certs' | 'revoked_x509_certs' | 'ssh_certs',
  ): Promise<readonly string[]> {
    const { stdout } = await run(this.#program, [
      this.files.path('ca.json'),
      table,
    ]);
    return stdout.split('\n').filter(line => /^\d+$/.test(line));
  }

  async stop(): Promise<void> {
    await this.pause();
    await this.files.remove();
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
