import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import type { FakeVersion } from './describeCertificate';
import { FakeFreeIpa } from './FakeFreeIpa';
import { FakeCa } from './FakeCa';
import { startAuthority, type StartedAuthority } from './startAuthority';

/** A response that is never sent. */
const never = new Promise<never>(() => {});

/** Options of {@link FakeNetwork.renew}. */
export interface FakeNetworkOptions {
  readonly version?: FakeVersion;
  readonly requestTimeoutMs?: number;
  readonly lostResponseSearchMs?: number;
}

/**
 * Two FreeIPA servers in a network simulated by msw, and a CA adapter that uses
 * both.
 */
export class FakeNetwork {
  readonly ca: FakeCa;
  readonly #msw = setupServer();
  #state:
    | {
        readonly first: FakeFreeIpa;
        readonly second: FakeFreeIpa;
        readonly started: StartedAuthority;
      }
    | undefined;

  static async start(): Promise<FakeNetwork> {
    return new FakeNetwork(await FakeCa.create());
  }

  private constructor(ca: FakeCa) {
    this.ca = ca;
    this.#msw.listen({ onUnhandledRequest: 'error' });
  }

  get first(): FakeFreeIpa {
    return this.#state!.first;
  }

  get second(): FakeFreeIpa {
    return this.#state!.second;
  }

  get authority(): StartedAuthority['authority'] {
    return this.#state!.started.authority;
  }

  /** Log of the authority. */
  get log(): string {
    return this.#state!.started.logger.lines.join('\n');
  }

  /** Replaces the servers and the authority. */
  async renew(options: FakeNetworkOptions = {}): Promise<void> {
    const { version, ...config } = options;
    const { ca } = this;
    await this.#state?.started.remove();
    const first = new FakeFreeIpa({ host: 'ipa1.test', ca, version });
    const second = new FakeFreeIpa({ host: 'ipa2.test', ca, version });
    this.#msw.resetHandlers(hosted(first), hosted(second));
    const started = await startAuthority({
      servers: ['https://ipa1.test', 'https://ipa2.test'],
      password: first.password,
      ...config,
    });
    for (const server of [first, second]) {
      server.onHang = () => started.clock.advanceToDeadline();
    }
    this.#state = { first, second, started };
  }

  async setPassword(password: string): Promise<void> {
    await this.#state!.started.setPassword(password);
  }

  async stop(): Promise<void> {
    this.#msw.close();
    await this.#state?.started.remove();
    await this.ca.remove();
  }
}

function hosted(freeIpa: FakeFreeIpa) {
  return http.all(`https://${freeIpa.host}/*`, async ({ request }) => {
    const reply = await freeIpa.handle(request);
    if (reply.kind === 'whole') {
      return reply.response;
    }
    return reply.kind === 'hang' ? await never : HttpResponse.error();
  });
}
