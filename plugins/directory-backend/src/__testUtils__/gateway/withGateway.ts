import { startRealm, type Realm } from '@directory-gateway/realm';
import { GatewayClient } from './GatewayClient';
import { startGateway, type Gateway } from './startGateway';

interface SiteOptions {
  /** Another site, whose realm is shared. Default: a realm is started. */
  readonly within?: Pick<Site, 'realm'>;
  /** People of the realm, as in `startRealm`. */
  readonly ldif?: string;
  /** Number of generated users, as in `startRealm`. */
  readonly users?: number;
  /** Returns the options of the gateway; may change the directory first. */
  readonly configure?: (
    realm: Realm,
  ) => GatewayOptions | Promise<GatewayOptions>;
}

type GatewayOptions = Omit<Parameters<typeof startGateway>[0], 'realm'>;

/**
 * Shared services of the tests in a file, which may contain several suites.
 * Available in tests and `beforeAll`.
 */
export interface Site {
  readonly realm: Realm;
  readonly gateway: Gateway;
  readonly client: GatewayClient;
}

/** Starts a realm and a gateway for all tests of a file or a `describe`. */
export function withGateway({
  within,
  ldif,
  users,
  configure,
}: SiteOptions = {}): Site {
  const site: { -readonly [Key in keyof Site]?: Site[Key] } = {};
  beforeAll(async () => {
    const realm = within?.realm ?? (await startRealm({ ldif, users }));
    site.realm = realm;
    const gateway = await startGateway({
      ...(await configure?.(realm)),
      realm,
    });
    site.gateway = gateway;
    site.client = new GatewayClient({ gateway, realm });
  });
  afterAll(async () => {
    await site.gateway?.stop();
    if (!within) {
      await site.realm?.stop();
    }
  });
  return site as Site;
}
