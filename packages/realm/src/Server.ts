import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type ListenOptions } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf, type Command } from './processes';

/**
 * Below Linux's ephemeral ports (32768 and up), so that no outgoing connection
 * takes the port of a server while it restarts. Those from 32000 are used by
 * scripts/free-port.mjs.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/**
 * Returns different unused TCP ports of 127.0.0.1, which this function does not
 * return again to any process until the calling process exits.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(LOWEST, HIGHEST);
    // A socket with an abstract name is released by the kernel.
    const reservation = await listen({ path: `\0directory-gateway-${port}` });
    const server = reservation && (await listen({ port, host: '127.0.0.1' }));
    if (server) {
      server.close();
      await once(server, 'close');
      ports.push(port);
    } else {
      reservation?.close();
    }
  }
  return ports;
}

/** Returns a server that does not keep the process alive, if the address is free. */
async function listen(options: ListenOptions) {
  const server = createServer().unref();
  server.listen({ ...options, exclusive: true });
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}

/**
 * How much later than requested a main thread may wake up from a pause. That of
 * the directory server wakes up every millisecond, which takes 3 % of a CPU.
 */
const TIMER_SLACK_MS = 50;

/** Maximum duration of a start or a graceful shutdown, in milliseconds. */
const TIMEOUT_MS = 60_000;

interface ServerOptions extends Command {
  /** TCP port of 127.0.0.1. */
  readonly port: number;
  /** File for its output. */
  readonly log: string;
  /** Request to which the server responds when it is ready. Default: none. */
  readonly request?: Buffer;
}

/** A server process that can be started repeatedly. */
export class Server {
  readonly #options: ServerOptions;
  #child?: ChildProcess;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** @throws Error with the end of its log when it does not become ready */
  async start(): Promise<void> {
    if (this.#running()) {
      return;
    }
    const { program, args, log } = this.#options;
    const output = await open(log, 'a');
    const child = spawn(program, args, {
      stdio: ['ignore', output.fd, output.fd],
      env: environmentOf(this.#options),
      // Ctrl-C in a terminal reaches only the caller, which ends the server.
      detached: true,
    });
    child.unref();
    this.#child = child;
    await once(child, 'spawn').finally(() => output.close());
    const deadline = Date.now() + TIMEOUT_MS;
    while (!(await this.#isReady())) {
      if (!this.#running() || Date.now() > deadline) {
        child.kill('SIGKILL');
        const reason = (await readFile(log, 'utf8')).trim().slice(-2000);
        throw new Error(`${program} did not start: ${reason}`);
      }
      await sleep(30);
    }
    const slack = `${TIMER_SLACK_MS * 1_000_000}`;
    const file = `/proc/${child.pid}/timerslack_ns`;
    await writeFile(file, slack).catch(() => {}); // only root may write it
  }

  /** Sends SIGTERM, or SIGKILL after a timeout, and waits. */
  async stop(): Promise<void> {
    await this.resume();
    await this.#end('SIGTERM');
  }

  /** Sends SIGKILL and waits. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the process: connections stay open without responses. */
  async pause(): Promise<void> {
    const child = this.#running();
    child?.kill('SIGSTOP');
    // A thread may still run and respond after the signal was sent.
    while (child?.pid && !(await isPaused(child.pid))) {
      await sleep(1);
    }
  }

  /** Continues a paused process. */
  async resume(): Promise<void> {
    this.#running()?.kill('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#running();
    if (child) {
      child.ref();
      child.kill(signal);
      const force = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
      await once(child, 'exit');
      clearTimeout(force);
    }
  }

  #running(): ChildProcess | undefined {
    const child = this.#child;
    return child?.pid && child.exitCode === null && child.signalCode === null
      ? child
      : undefined;
  }

  async #isReady(): Promise<boolean> {
    const { port, request } = this.#options;
    const socket = connect({ port, host: '127.0.0.1' });
    try {
      await once(socket, 'connect');
      if (request) {
        socket.write(request);
        await once(socket, 'data', { signal: AbortSignal.timeout(1000) });
      }
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }
}

/** Returns whether all threads of a process are stopped, or have ended. */
async function isPaused(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(
    threads.map(async thread => {
      const file = `/proc/${pid}/task/${thread}/stat`;
      const stat = await readFile(file, 'utf8').catch(() => ') X');
      return stat.slice(stat.lastIndexOf(')') + 2).charAt(0);
    }),
  );
  return states.every(state => 'TXZ'.includes(state));
}
