import type { FreeIpaConfig } from '../FreeIpaConfig';
import type { FakeVersion } from './describeCertificate';
import { FakeCa } from './FakeCa';
import type { FakeFreeIpa } from './FakeFreeIpa';
import { FakeHttpsServer } from './FakeHttpsServer';
import { startAuthority, type StartedAuthority } from './startAuthority';

/** Two FreeIPA servers, and a CA adapter that uses both. */
export class FakeNetwork {
  readonly ca: FakeCa;
  #servers: readonly FakeHttpsServer[] = [];
  #started: StartedAuthority | undefined;

  static async start(): Promise<FakeNetwork> {
    return new FakeNetwork(await FakeCa.create());
  }

  private constructor(ca: FakeCa) {
    this.ca = ca;
  }

  get first(): FakeFreeIpa {
    return this.#servers[0].freeIpa;
  }

  get second(): FakeFreeIpa {
    return this.#servers[1].freeIpa;
  }

  get authority(): StartedAuthority['authority'] {
    return this.#started!.authority;
  }

  /** Log of the authority. */
  get log(): string {
    return this.#started!.logger.lines.join('\n');
  }

  /** Replaces the servers and the authority. */
  async renew(
    options: Partial<FreeIpaConfig> & { readonly version?: FakeVersion } = {},
  ): Promise<void> {
    const { version, ...config } = options;
    const { ca } = this;
    await this.#clear();
    this.#servers = [
      await FakeHttpsServer.start({ ca, version }),
      await FakeHttpsServer.start({ ca, version }),
    ];
    const started = await startAuthority({
      servers: this.#servers.map(({ origin }) => origin),
      caFile: ca.caFile,
      password: this.first.password,
      ...config,
    });
    for (const { freeIpa } of this.#servers) {
      freeIpa.onHang = () => started.clock.advanceToDeadline();
    }
    this.#started = started;
  }

  async setPassword(password: string): Promise<void> {
    await this.#started!.setPassword(password);
  }

  async stop(): Promise<void> {
    await this.#clear();
    await this.ca.remove();
  }

  async #clear(): Promise<void> {
    await Promise.all(this.#servers.map(server => server.stop()));
    await this.#started?.remove();
  }
}
