import type { CertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node';
import type { Directory, UsersQuery } from '../directory/Directory';
import type { Page } from '../directory/Page';
import type { User } from '../directory/User';

/** A method of the port. */
type Method<Name extends keyof Directory> = Directory[Name];

/**
 * Adds to the users' certificates those that an authority keeps on its own
 * record instead of in the directory, less the revoked ones: a decorator of a
 * directory. Nobody is asked when no certificates are.
 */
export class IssuedCertificatesDirectory implements Directory {
  readonly #directory: Directory;
  readonly #authority: Pick<CertificateAuthority, 'listByUser'>;

  constructor(
    directory: Directory,
    authority: Pick<CertificateAuthority, 'listByUser'>,
  ) {
    this.#directory = directory;
    this.#authority = authority;
  }

  getUser: Method<'getUser'> = async (query, context) => {
    const user = await this.#directory.getUser(query, context);
    return user && this.#withIssued(user, query);
  };

  listUsers: Method<'listUsers'> = async (query, context) =>
    this.#pageWithIssued(
      await this.#directory.listUsers(query, context),
      query,
    );

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
    return (
      users && Promise.all(users.map(user => this.#withIssued(user, query)))
    );
  };

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

  async #pageWithIssued(
    page: Page<User>,
    query: UsersQuery,
  ): Promise<Page<User>> {
    const items = await Promise.all(
      page.items.map(user => this.#withIssued(user, query)),
    );
    return { ...page, items };
  }

  async #withIssued(user: User, { fields }: UsersQuery): Promise<User> {
    if (!fields.has('certificates')) {
      return user;
    }
    const issued = (await this.#authority.listByUser?.(user.username)) ?? [];
    const current = issued
      .filter(({ revocation }) => revocation === undefined)
      .map(({ certificate }) => certificate);
    const held = user.certificates ?? [];
    const further = current.filter(der => !held.some(own => own.equals(der)));
    return further.length > 0
      ? { ...user, certificates: [...held, ...further] }
      : user;
  }
}
