import { Batch } from '@directory-gateway/backstage-plugin-directory-node';
import type { User, UserField } from '@directory-gateway/directory-core';
import type { CertificateOwners } from './records/CertificateOwners';
import { type CertificateOwner, keysOf } from './records/certificateRows';
import type { CertificateRecords } from './records/CertificateRecords';

/** Certificates by account, in DER. */
type Issued = ReadonlyMap<string, readonly Buffer[]>;

/** Options of {@link IssuedCertificates}. */
export interface IssuedCertificatesOptions {
  readonly owners: Pick<CertificateOwners, 'has'>;
  readonly records: Pick<CertificateRecords, 'listUsable'>;
  /** Returns the CAs whose certificates the directory does not contain. */
  readonly authorities: () => readonly string[];
  /** Returns the ID of an account, as `Principal.stableId`. */
  readonly stableIdOf: (username: string) => string | undefined;
}

/**
 * The usable certificates of users that are only in the gateway's records. They
 * are read only when certificates are requested, and only of accounts that have
 * some; concurrent requests share one query.
 */
export class IssuedCertificates {
  readonly #options: IssuedCertificatesOptions;
  /** Queries for the users of responses. */
  readonly #queries: Batch<readonly CertificateOwner[], Issued>;

  constructor(options: IssuedCertificatesOptions) {
    this.#options = options;
    this.#queries = new Batch(async responses => {
      const owners = new Map(
        responses.flat().map(owner => [owner.username, owner]),
      );
      const issued = await options.records.listUsable([...owners.values()], {
        authorities: options.authorities(),
      });
      return responses.map(() => issued);
    });
  }

  /** Adds the certificates to users, if their field is read. */
  async addTo(
    users: readonly User[],
    fields: ReadonlySet<UserField>,
  ): Promise<readonly User[]> {
    if (!fields.has('certificates')) {
      return users;
    }
    const { owners, stableIdOf } = this.#options;
    const owning = new Map<User, CertificateOwner>();
    for (const user of users) {
      const { username } = user;
      const owner = { username, stableId: stableIdOf(username) };
      if (owners.has(owner)) {
        owning.set(user, owner);
      }
    }
    if (owning.size === 0) {
      return users;
    }
    const issued = await this.#queries.add([...owning.values()]);
    return users.map(user => {
      const owner = owning.get(user);
      return owner ? withCertificates(user, keysOf(owner), issued) : user;
    });
  }
}

function withCertificates(
  user: User,
  keys: readonly string[],
  issued: Issued,
): User {
  const recorded = user.certificates ?? [];
  const added = keys
    .flatMap(key => issued.get(key) ?? [])
    .filter(der => !recorded.some(other => other.equals(der)));
  return added.length > 0
    ? { ...user, certificates: [...recorded, ...added] }
    : user;
}
