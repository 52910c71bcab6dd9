import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import DataLoader from 'dataloader';
import type { Directory } from '../directory/Directory';
import type { UserField } from '../directory/schema';
import type { User } from '../directory/records';

/** As many as the authority takes in one question. */
const USERS_AT_A_TIME = 1000;

/** A method of the port. */
type Method<Name extends keyof Directory> = Directory[Name];

/** What an authority has issued, by user name. */
type Issued = ReadonlyMap<string, readonly IssuedCertificate[]>;

type Authority = Pick<CertificateAuthority, 'listByUsers'>;

/**
 * Adds to the users' certificates those that an authority keeps on its own
 * record instead of in the directory, less the revoked ones: a decorator of a
 * directory. Nobody is asked when no certificates are. Callers who wait at the
 * same time share one question, for it costs more than its answer.
 */
export class IssuedCertificatesDirectory implements Directory {
  readonly #directory: Directory;
  /** For the users of an answer, as one key: they are not told apart. */
  readonly #issued: DataLoader<readonly User[], Issued>;

  constructor(directory: Directory, authority: Authority) {
    this.#directory = directory;
    this.#issued = new DataLoader(
      async answers => {
        const issued = await listAll(answers.flat(), authority);
        return answers.map(() => issued);
      },
      {
        // A certificate may be issued or revoked at any time.
        cache: false,
        // After all answers of the directory that have arrived by now.
        batchScheduleFn: ask => setImmediate(ask),
      },
    );
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
    const issued = await this.#issued.load(users);
    return issued.size > 0
      ? users.map(user => withCertificates(user, issued))
      : users;
  }
}

/** What users have, each asked about once. */
async function listAll(
  users: readonly User[],
  authority: Authority,
): Promise<Issued> {
  const usernames = [...new Set(users.map(({ username }) => username))];
  const lists: (Issued | undefined)[] = [];
  for (let at = 0; at < usernames.length; at += USERS_AT_A_TIME) {
    const some = usernames.slice(at, at + USERS_AT_A_TIME);
    lists.push(
      await authority.listByUsers?.({ usernames: some, which: 'usable' }),
    );
  }
  return lists.length === 1
    ? lists[0] ?? new Map()
    : new Map(lists.flatMap(list => [...(list ?? [])]));
}

function withCertificates(user: User, issued: Issued): User {
  const held = user.certificates ?? [];
  const further = (issued.get(user.username) ?? [])
    .map(({ certificate }) => certificate)
    .filter(der => !held.some(own => own.equals(der)));
  return further.length > 0
    ? { ...user, certificates: [...held, ...further] }
    : user;
}
