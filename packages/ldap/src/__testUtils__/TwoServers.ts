import type { JsonObject } from '@backstage/types';
import {
  enableReplication,
  startRealm,
  type Realm,
  type RealmOptions,
  type Replication,
} from '@directory-gateway/realm';
import { ldapOf } from './openLdap';

/** Number of changes that separate the USNs of the two servers. */
const USN_DISTANCE = 50;

/**
 * Two directory servers with the same people, passwords and CA, but different
 * USNs. Tickets, the gateway's keytab and the KDC are those of `preferred`.
 */
export class TwoServers {
  /** The first server of the gateway's configuration. */
  readonly preferred: Realm;
  /** The second server of the gateway's configuration. */
  readonly other: Realm;

  private constructor(preferred: Realm, other: Realm) {
    this.preferred = preferred;
    this.other = other;
  }

  /** Starts both servers, without replication between them. */
  static async start(options: RealmOptions = {}): Promise<TwoServers> {
    const [preferred, other] = await Promise.all([
      startRealm(options),
      startRealm(options),
    ]);
    const change = `dn: ${other.baseDn}
changetype: modify
replace: description
description: `;
    await other.modify(
      Array.from({ length: USN_DISTANCE }, (_, n) => `${change}${n}\n`).join(
        '\n',
      ),
    );
    return new TwoServers(preferred, other);
  }

  /** The `directory.ldap` block of a gateway that uses both servers. */
  get ldap(): JsonObject {
    const { preferred, other } = this;
    return {
      ...ldapOf(preferred),
      servers: [preferred.ldapsUrl, other.ldapsUrl],
    };
  }

  /** Replicates the servers to each other. */
  replicate(): Promise<Replication> {
    return enableReplication({ first: this.preferred, second: this.other });
  }

  async stop(): Promise<void> {
    await Promise.all([this.preferred.stop(), this.other.stop()]);
  }
}
