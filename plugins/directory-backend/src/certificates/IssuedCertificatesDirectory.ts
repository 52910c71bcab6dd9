import {
  Batch,
  type CertificateAuthority,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Directory } from '../directory/Directory';
import type { UserField } from '../directory/schema';
import type { User } from '../directory/records';

/** Maximum number of users in a query of the CA. */
const MAX_USERS = 1000;

/** A method of {@link Directory}. */
type Method<Name extends keyof Directory> = Directory[Name];

/** Issued certificates by user name. */
type Issued = ReadonlyMap<string, readonly IssuedCertificate[]>;

type Authority = Pick<CertificateAuthority, 'listByUsers'>;

/**
 * Decorates a directory with usable certificates that are only in a CA's own
 * records. The CA is queried only when certificates are requested; concurrent
 * requests share one query.
 */
export class IssuedCertificatesDirectory implements Directory {
  readonly #directory: Directory;
  /** Queries for the users of responses. */
  readonly #queries: Batch<readonly User[], Issued>;

  constructor(directory: Directory, authority: Authority) {
    this.#directory = directory;
    this.#queries = new Batch(async responses => {
      const issued = await listAll(responses.flat(), authority);
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
    if (!fields.has('certificates') || users.length === 0) {
      return users;
    }
    const issued = await this.#queries.add(users);
    return issued.size > 0
      ? users.map(user => withCertificates(user, issued))
      : users;
  }
}

/** Queries the certificates of users, each user once. */
async function listAll(
  users: readonly User[],
  authority: Authority,
): Promise<Issued> {
  const usernames = [...new Set(users.map(({ username }) => username))];
  const lists: (Issued | undefined)[] = [];
  for (let at = 0; at < usernames.length; at += MAX_USERS) {
    const slice = usernames.slice(at, at + MAX_USERS);
    lists.push(
      await authority.listByUsers?.({ usernames: slice, which: 'usable' }),
    );
  }
  return lists.length === 1
    ? (lists[0] ?? new Map())
    : new Map(lists.flatMap(list => [...(list ?? [])]));
}

function withCertificates(user: User, issued: Issued): User {
  const recorded = user.certificates ?? [];
  const added = (issued.get(user.username) ?? [])
    .map(({ certificate }) => certificate.der)
    .filter(der => !recorded.some(other => other.equals(der)));
  return added.length > 0
    ? { ...user, certificates: [...recorded, ...added] }
    : user;
}
