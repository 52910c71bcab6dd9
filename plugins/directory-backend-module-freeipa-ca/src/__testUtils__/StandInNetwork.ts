import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import type { StandInVersion } from './describeCertificate';
import { FreeIpaStandIn } from './FreeIpaStandIn';
import { StandInCa } from './StandInCa';
import { startAuthority, type StartedAuthority } from './startAuthority';

/** An answer that does not come. */
const never = new Promise<never>(() => {});

/** What differs from test to test. */
export interface StandInNetworkOptions {
  readonly version?: StandInVersion;
  readonly requestTimeoutMs?: number;
  readonly lostAnswerSearchMs?: number;
}

/**
 * Two replicas of FreeIPA in a network that msw plays, and an authority that
 * knows them as `first` and `second`.
 */
export class StandInNetwork {
  readonly ca: StandInCa;
  readonly #msw = setupServer();
  #state:
    | {
        readonly first: FreeIpaStandIn;
        readonly second: FreeIpaStandIn;
        readonly started: StartedAuthority;
      }
    | undefined;

  static async start(): Promise<StandInNetwork> {
    return new StandInNetwork(await StandInCa.create());
  }

  private constructor(ca: StandInCa) {
    this.ca = ca;
    this.#msw.listen({ onUnhandledRequest: 'error' });
  }

  get first(): FreeIpaStandIn {
    return this.#state!.first;
  }

  get second(): FreeIpaStandIn {
    return this.#state!.second;
  }

  get authority(): StartedAuthority['authority'] {
    return this.#state!.started.authority;
  }

  /** All that the authority has logged. */
  get log(): string {
    return this.#state!.started.logger.lines.join('\n');
  }

  /** Puts new servers and a new authority in the place of the old. */
  async renew(options: StandInNetworkOptions = {}): Promise<void> {
    const { version, ...config } = options;
    const { ca } = this;
    await this.#state?.started.remove();
    const first = new FreeIpaStandIn({ host: 'ipa1.test', ca, version });
    const second = new FreeIpaStandIn({ host: 'ipa2.test', ca, version });
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

function hosted(standIn: FreeIpaStandIn) {
  return http.all(`https://${standIn.host}/*`, async ({ request }) => {
    const answer = await standIn.handle(request);
    if (answer.kind === 'whole') {
      return answer.response;
    }
    return answer.kind === 'hang' ? await never : HttpResponse.error();
  });
}
