import { startRealm, type Realm } from '@directory-gateway/realm';
import { GatewayClient } from './GatewayClient';
import { startGateway, type Gateway } from './startGateway';

/** How a gateway is started, but for the realm. */
type GatewayOptions = Omit<Parameters<typeof startGateway>[0], 'realm'>;

/** What the tests of a file share, from before the first to after the last. */
export class Site {
  #realm: Realm | undefined;
  #gateway: Gateway | undefined;
  #client: GatewayClient | undefined;

  get realm(): Realm {
    return started(this.#realm);
  }

  get gateway(): Gateway {
    return started(this.#gateway);
  }

  /** Asks the gateway. */
  get client(): GatewayClient {
    return started(this.#client);
  }

  async start({ ldif, configure }: SiteOptions): Promise<void> {
    this.#realm = await startRealm({ ldif });
    const { realm } = this;
    this.#gateway = await startGateway({
      ...(await configure?.(realm)),
      realm,
    });
    this.#client = new GatewayClient({ gateway: this.gateway, realm });
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
    await this.#realm?.stop();
  }
}

interface SiteOptions {
  /** The people of the realm, as `startRealm` has it. */
  readonly ldif?: string;
  /**
   * How the gateway is started, asked when the realm is there: whoever else
   * is needed in the directory is put there first.
   */
  readonly configure?: (
    realm: Realm,
  ) => GatewayOptions | Promise<GatewayOptions>;
}

/** A realm, a gateway on it and who asks it, for all tests of a file. */
export function withGateway(options: SiteOptions = {}): Site {
  const site = new Site();
  beforeAll(() => site.start(options));
  afterAll(() => site.stop());
  return site;
}

function started<T>(part: T | undefined): T {
  if (part === undefined) {
    throw new Error('It is started before the first test, not earlier');
  }
  return part;
}
