import { Batch } from '@directory-gateway/backstage-plugin-directory-node';
import type {
  Directory,
  User,
  UserField,
} from '@directory-gateway/directory-core';
import type { CertificateOwners } from './records/CertificateOwners';
import { type CertificateOwner, keysOf } from './records/certificateRows';
import type { CertificateRecords } from './records/CertificateRecords';

/** A method of {@link Directory}. */
type Method<Name extends keyof Directory> = Directory[Name];

/** Certificates by account, in DER. */
type Issued = ReadonlyMap<string, readonly Buffer[]>;

/** Options of {@link IssuedCertificatesDirectory}. */
export interface IssuedCertificatesOptions {
  readonly owners: Pick<CertificateOwners, 'has'>;
  readonly records: Pick<CertificateRecords, 'listUsable'>;
  /** Returns the CAs whose certificates the directory does not contain. */
  readonly authorities: () => readonly string[];
  /** Returns the ID of an account, as `Principal.stableId`. */
  readonly stableIdOf: (username: string) => string | undefined;
}

/**
 * Decorates a directory with usable certificates that are only in the gateway's
 * records. They are read only when certificates are requested, and only of
 * accounts that have some; concurrent requests share one query.
 */
export class IssuedCertificatesDirectory implements Directory {
  readonly #directory: Directory;
  readonly #options: IssuedCertificatesOptions;
  /** Queries for the users of responses. */
  readonly #queries: Batch<readonly CertificateOwner[], Issued>;

  constructor(directory: Directory, options: IssuedCertificatesOptions) {
    this.#directory = directory;
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

  getUser: Method<'getUser'> = async (query, context) => {
    const user = await this.#directory.getUser(query, context);
    return user && (await this.#withIssued([user], query.fields))[0];
  };

  listUsers: Method<'listUsers'> = async (selection, context) => {
    const page = await this.#directory.listUsers(selection, context);
    return (
      page && {
        ...page,
        items: await this.#withIssued(page.items, selection.fields),
      }
    );
  };

  streamUsers: Method<'streamUsers'> = async (selection, context) => {
    const stream = await this.#directory.streamUsers(selection, context);
    return (
      stream && {
        ...stream,
        batches: this.#allWithIssued(stream.batches, selection.fields),
      }
    );
  };

  getGroup: Method<'getGroup'> = (query, context) =>
    this.#directory.getGroup(query, context);

  listGroups: Method<'listGroups'> = (selection, context) =>
    this.#directory.listGroups(selection, context);

  isMember: Method<'isMember'> = (query, context) =>
    this.#directory.isMember(query, context);

  countMembers: Method<'countMembers'> = (query, context) =>
    this.#directory.countMembers(query, context);

  membershipReasons: Method<'membershipReasons'> = (query, context) =>
    this.#directory.membershipReasons(query, context);

  listAgreements: Method<'listAgreements'> = (query, context) =>
    this.#directory.listAgreements(query, context);

  async *#allWithIssued(
    batches: AsyncIterable<readonly User[]>,
    fields: ReadonlySet<UserField>,
  ): AsyncIterable<readonly User[]> {
    for await (const users of batches) {
      yield await this.#withIssued(users, fields);
    }
  }

  async #withIssued(
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
