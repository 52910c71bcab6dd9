import type { Realm } from '@directory-gateway/realm';
import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { BENCHMARKS } from '../settings';
import type { Credential, Credentials } from './credentials';
import type { TokenRequest, TokenResponse } from './makeTokens';

/** Maximum age of a token: servers accept a SPNEGO token for five minutes. */
const MAX_AGE_MS = 200_000;

/** Compiles TypeScript for Node, as Backstage's commands do. */
const LOADER = require.resolve('@backstage/cli-node/config/nodeTransform.cjs');

/**
 * A process that creates SPNEGO tokens. The Kerberos library reads the
 * caller's tickets from the environment.
 */
class TokenMaker {
  readonly #child: ChildProcess;
  readonly #exit: Promise<never>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(cpu: number, realm: Realm) {
    this.#child = fork(`${BENCHMARKS}/src/credentials/makeTokens.ts`, {
      execPath: 'taskset',
      execArgv: ['--cpu-list', `${cpu}`, process.execPath, '--require', LOADER],
      env: { ...process.env, KRB5_CONFIG: realm.krb5Config },
      // Ctrl-C reaches only the parent, which stops this process.
      detached: true,
    });
    this.#exit = once(this.#child, 'exit').then(() => {
      throw new Error('The process that creates SPNEGO tokens has exited');
    });
    this.#exit.catch(() => {});
  }

  /**
   * Creates base64 tokens for HTTP/localhost. Concurrent calls run
   * sequentially.
   */
  create(request: TokenRequest): Promise<readonly string[]> {
    const tokens = this.#last.then(() => {
      this.#child.send(request);
      return Promise.race([this.#response(), this.#exit]);
    });
    this.#last = tokens;
    return tokens;
  }

  async #response(): Promise<readonly string[]> {
    // The loader sends messages of other types.
    for await (const [message] of on(this.#child, 'message')) {
      if (message.type === 'tokens') {
        return (message as TokenResponse).tokens;
      }
    }
    throw new Error('Unreachable');
  }

  async stop(): Promise<void> {
    if (this.#child.connected) {
      this.#child.disconnect();
    }
    await this.#exit.catch(() => {});
  }
}

interface TimedCredential extends Credential {
  readonly createdAt: number;
}

/**
 * SPNEGO tokens, each for one request: a server with a replay cache rejects a
 * second use (RFC 4120 §3.2.3). Creating a token takes longer than a request,
 * so processes on both CPUs create tokens while nothing is measured.
 */
export class NegotiateCredentials implements Credentials {
  readonly mode = 'negotiate';
  readonly usernames: readonly string[];
  readonly #callers: readonly { username: string; ticket: string }[];
  readonly #makers: readonly TokenMaker[];
  #ready: TimedCredential[] = [];

  private constructor(
    callers: readonly { username: string; ticket: string }[],
    makers: readonly TokenMaker[],
  ) {
    this.#callers = callers;
    this.usernames = callers.map(({ username }) => username);
    this.#makers = makers;
  }

  /** Starts a process on each CPU, and obtains a ticket for each caller. */
  static async start(options: {
    readonly realm: Realm;
    readonly usernames: readonly string[];
    readonly cpus: readonly number[];
  }): Promise<NegotiateCredentials> {
    const { realm, usernames, cpus } = options;
    const callers = await Promise.all(
      usernames.map(async username => ({
        username,
        ticket: await realm.ticket(username),
      })),
    );
    return new NegotiateCredentials(
      callers,
      cpus.map(cpu => new TokenMaker(cpu, realm)),
    );
  }

  async prepare(count: number): Promise<void> {
    const createdAt = performance.now();
    this.#ready = this.#ready.filter(
      credential => createdAt - credential.createdAt < MAX_AGE_MS,
    );
    const missing = count - this.#ready.length;
    if (missing <= 0) {
      return;
    }
    const share = Math.ceil(missing / this.#callers.length);
    const batches = await Promise.all(
      this.#callers.map(async ({ username, ticket }, index) => {
        const maker = this.#makers[index % this.#makers.length];
        const tokens = await maker.create({ ticket, count: share });
        return tokens.map(token => ({
          headers: { authorization: `Negotiate ${token}` },
          username,
          createdAt,
        }));
      }),
    );
    // Callers alternate; the oldest tokens are at the end and are used first.
    const created = Array.from({ length: share }, (_, index) =>
      batches.map(batch => batch[index]),
    ).flat();
    this.#ready = [...created, ...this.#ready];
  }

  next(): Credential | undefined {
    return this.#ready.pop();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#makers.map(maker => maker.stop()));
  }
}
