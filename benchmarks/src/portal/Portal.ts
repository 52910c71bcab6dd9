import type { Realm } from '@directory-gateway/realm';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { REPOSITORY } from '../folders';
import { freePort } from './freePort';
import { portalCommand, type PortalVariant } from './portalCommand';

/** A portal lives on, never ready, when one of its plugins does not start. */
const PATIENCE_MS = 60_000;
/** How exactly it is known when it began to do something. */
const LOOK_MS = 20;
/** How long it may take to stop. */
const STOP_MS = 3000;
/** What of a log that ended badly is shown. */
const LAST_CHARACTERS = 4000;

/** What the portal's process has used since it was last asked. */
export interface Vitals {
  /** Milliseconds on a CPU. */
  readonly cpuMs: number;
  /** 99th percentile of how late the event loop's timers were. */
  readonly eventLoopDelayMs: number;
  readonly maxEventLoopDelayMs: number;
}

/** What the portal's process holds after a collection, in bytes. */
export interface Memory {
  /** Of the machine's memory. */
  readonly rssBytes: number;
  /** The most of it that it has held so far. */
  readonly highestRssBytes: number;
  /** Of its heap, buffers outside of it included. */
  readonly usedBytes: number;
}

/** How a portal is started. */
export interface PortalOptions {
  readonly realm: Realm;
  readonly variant: PortalVariant;
  /** The CPU it runs on. */
  readonly cpu: number;
  /** Folder of the checkout whose build is started. Default: this one. */
  readonly checkout?: string;
}

/**
 * The production build (`scripts/build`) as `make start` runs it, its log in
 * a file of the realm's folder.
 */
export class Portal {
  /** For example `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** When its process was started, by `performance.now()`. */
  readonly startedAt = performance.now();
  readonly #child: ChildProcess;
  readonly #log: string;

  private constructor(options: {
    readonly origin: string;
    readonly child: ChildProcess;
    readonly log: string;
  }) {
    this.origin = options.origin;
    this.#child = options.child;
    this.#log = options.log;
  }

  /** Starts its process, which answers later. */
  static async start(options: PortalOptions): Promise<Portal> {
    const port = await freePort();
    const log = join(options.realm.dir, `portal-${port}.log`);
    const output = await open(log, 'w');
    const { checkout = REPOSITORY } = options;
    const { args, cwd, env } = portalCommand({ ...options, port, checkout });
    const child = spawn('taskset', args, {
      cwd,
      env,
      stdio: ['ignore', output.fd, output.fd, 'ipc'],
      // Out of reach of the terminal's Ctrl-C: the bench ends it in order.
      detached: true,
    });
    const portal = new Portal({
      child,
      log,
      origin: `http://127.0.0.1:${port}`,
    });
    await once(child, 'spawn');
    await output.close();
    return portal;
  }

  /** Waits until all of its plugins have started. */
  async untilReady(signal: AbortSignal): Promise<void> {
    const url = `${this.origin}/.backstage/health/v1/readiness`;
    await this.until(async () => (await fetch(url)).ok, { signal });
  }

  /** Waits until its log reports the replica's first sync. */
  async untilCopied(signal: AbortSignal, patienceMs: number): Promise<void> {
    const isSaid = async () =>
      (await readFile(this.#log, 'utf8')).includes('First sync finished');
    await this.until(isSaid, { signal, patienceMs });
  }

  /**
   * Waits until something is so; what fails is tried again.
   *
   * @throws Error with the end of its log, when it is not so in a minute
   */
  async until(
    check: () => Promise<boolean>,
    options: { readonly signal: AbortSignal; readonly patienceMs?: number },
  ): Promise<void> {
    const { signal, patienceMs = PATIENCE_MS } = options;
    while (this.#isAlive && performance.now() - this.startedAt < patienceMs) {
      if (await check().catch(() => false)) {
        return;
      }
      await sleep(LOOK_MS, undefined, { signal });
    }
    const said = await readFile(this.#log, 'utf8');
    throw new Error(`The portal is not ready: ${said.slice(-LAST_CHARACTERS)}`);
  }

  /** A token of the portal for the user whom its guest provider signs in. */
  async token(): Promise<string> {
    const response = await fetch(`${this.origin}/api/auth/guest/refresh`, {
      headers: { 'X-Requested-With': 'XMLHttpRequest' },
    });
    const { backstageIdentity } = await response.json();
    return backstageIdentity.token;
  }

  /** What it has used since the last call. */
  vitals(): Promise<Vitals> {
    return this.#ask({ ask: 'vitals' });
  }

  /**
   * What it holds. Ask when it has nothing else to do: V8 takes ten seconds to
   * give back what it needs no more.
   */
  memory(): Promise<Memory> {
    return this.#ask({ ask: 'memory' });
  }

  /** Its resident memory in bytes, read without its help. */
  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8');
    const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? [];
    return Number(kibibytes) * 1024;
  }

  /** Begins a CPU profile. */
  startProfile(): Promise<void> {
    return this.#ask({ ask: 'startProfile' });
  }

  /** Ends the profile and writes it to a file. */
  stopProfile(file: string): Promise<void> {
    return this.#ask({ ask: 'stopProfile', file });
  }

  /** Ends it in order, if that is quick, and waits. */
  async stop(): Promise<void> {
    if (this.#isAlive) {
      const exit = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      // Backstage waits for requests of up to a minute that it makes itself.
      const killing = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
      await exit;
      clearTimeout(killing);
    }
  }

  get #isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #ask<T>(question: { readonly ask: string; file?: string }): Promise<T> {
    this.#child.send(question);
    const [{ answer }] = await once(this.#child, 'message');
    return answer;
  }
}
