import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import DataLoader from 'dataloader';
import type { Directory, UsersQuery } from '../directory/Directory';
import type { Page } from '../directory/Page';
import type { User } from '../directory/User';

/** As many as the authority takes in one question. */
const USERS_AT_A_TIME = 1000;

/** A method of the port. */
type Method<Name extends keyof Directory> = Directory[Name];

/**
 * Adds to the users' certificates those that an authority keeps on its own
 * record instead of in the directory, less the revoked ones: a decorator of a
 * directory. Nobody is asked when no certificates are. Callers who wait at the
 * same time share one question, for it costs more than its answer.
 */
export class IssuedCertificatesDirectory implements Directory {
  readonly #directory: Directory;
  readonly #issued: DataLoader<string, readonly IssuedCertificate[]>;

  constructor(
    directory: Directory,
    authority: Pick<CertificateAuthority, 'listByUsers'>,
  ) {
    this.#directory = directory;
    this.#issued = new DataLoader(
      async usernames => {
        const issued = await authority.listByUsers?.({
          usernames: [...new Set(usernames)],
          which: 'usable',
        });
        return usernames.map(username => issued?.get(username) ?? []);
      },
      {
        maxBatchSize: USERS_AT_A_TIME,
        // A certificate may be issued or revoked at any time.
        cache: false,
        // After all answers of the directory that have arrived by now.
        batchScheduleFn: ask => setImmediate(ask),
      },
    );
  }

  getUser: Method<'getUser'> = async (query, context) => {
    const user = await this.#directory.getUser(query, context);
    return user && (await this.#withIssued([user], query))[0];
  };

  listUsers: Method<'listUsers'> = async (query, context) =>
    this.#pageWithIssued(
      await this.#directory.listUsers(query, context),
      query,
    );

  streamUsers: Method<'streamUsers'> = async (query, context) => {
    const stream = await this.#directory.streamUsers(query, context);
    return {
      ...stream,
      portions: this.#allWithIssued(stream.portions, query),
    };
  };

  searchUsers: Method<'searchUsers'> = async (query, context) =>
    this.#pageWithIssued(
      await this.#directory.searchUsers(query, context),
      query,
    );

  listGroupMembers: Method<'listGroupMembers'> = async (query, context) => {
    const page = await this.#directory.listGroupMembers(query, context);
    return page && this.#pageWithIssued(page, query);
  };

  listGroupSponsors: Method<'listGroupSponsors'> = async (query, context) => {
    const users = await this.#directory.listGroupSponsors(query, context);
    return users && this.#withIssued(users, query);
  };

  streamGroupMembers: Method<'streamGroupMembers'> = async (query, context) => {
    const stream = await this.#directory.streamGroupMembers(query, context);
    return (
      stream && {
        ...stream,
        portions: this.#allWithIssued(stream.portions, query),
      }
    );
  };

  listColleagues: Method<'listColleagues'> = async (query, context) =>
    this.#pageWithIssued(
      await this.#directory.listColleagues(query, context),
      query,
    );

  findPrincipal: Method<'findPrincipal'> = (query, context) =>
    this.#directory.findPrincipal(query, context);

  listUserGroups: Method<'listUserGroups'> = (query, context) =>
    this.#directory.listUserGroups(query, context);

  listUserAgreements: Method<'listUserAgreements'> = (query, context) =>
    this.#directory.listUserAgreements(query, context);

  getGroup: Method<'getGroup'> = (query, context) =>
    this.#directory.getGroup(query, context);

  listGroups: Method<'listGroups'> = (query, context) =>
    this.#directory.listGroups(query, context);

  isMember: Method<'isMember'> = (query, context) =>
    this.#directory.isMember(query, context);

  listUserMemberships: Method<'listUserMemberships'> = (query, context) =>
    this.#directory.listUserMemberships(query, context);

  listSponsoredGroups: Method<'listSponsoredGroups'> = (query, context) =>
    this.#directory.listSponsoredGroups(query, context);

  listMemberGroups: Method<'listMemberGroups'> = (query, context) =>
    this.#directory.listMemberGroups(query, context);

  searchGroups: Method<'searchGroups'> = (query, context) =>
    this.#directory.searchGroups(query, context);

  countGroupMembers: Method<'countGroupMembers'> = (query, context) =>
    this.#directory.countGroupMembers(query, context);

  async #pageWithIssued(
    page: Page<User>,
    query: UsersQuery,
  ): Promise<Page<User>> {
    return { ...page, items: await this.#withIssued(page.items, query) };
  }

  async *#allWithIssued(
    portions: AsyncIterable<readonly User[]>,
    query: UsersQuery,
  ): AsyncIterable<readonly User[]> {
    for await (const users of portions) {
      yield await this.#withIssued(users, query);
    }
  }

  async #withIssued(
    users: readonly User[],
    { fields }: UsersQuery,
  ): Promise<readonly User[]> {
    if (!fields.has('certificates') || users.length === 0) {
      return users;
    }
    return Promise.all(
      users.map(async user =>
        withCertificates(user, await this.#issued.load(user.username)),
      ),
    );
  }
}

function withCertificates(
  user: User,
  issued: readonly IssuedCertificate[],
): User {
  const held = user.certificates ?? [];
  const further = issued
    .map(({ certificate }) => certificate)
    .filter(der => !held.some(own => own.equals(der)));
  return further.length > 0
    ? { ...user, certificates: [...held, ...further] }
    : user;
}
