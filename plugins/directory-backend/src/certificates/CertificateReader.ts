import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { CallerContext } from '../directory/Caller';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { CertificatesConfig } from './CertificatesConfig';
import { isError } from '@backstage/errors';
import { describeCertificate } from '@directory-gateway/x509';
import type { Paged } from '../directory/Directory';
import { type Page, slicePage } from '../directory/Page';

/**
 * Reads certificates by serial number. A certificate that the caller may not
 * see in the record of its owner is reported as not found.
 */
export class CertificateReader {
  readonly #directory: PrivateDirectory;
  readonly #authority: Pick<CertificateAuthority, 'get'>;
  readonly #config: Pick<CertificatesConfig, 'readable'>;

  constructor(options: {
    readonly directory: PrivateDirectory;
    readonly authority: Pick<CertificateAuthority, 'get'>;
    readonly config: Pick<CertificatesConfig, 'readable'>;
  }) {
    this.#directory = options.directory;
    this.#authority = options.authority;
    this.#config = options.config;
  }

  /** As {@link CertificateAuthority.get}, for what the caller may see. */
  async get(
    serialNumber: bigint,
    context: CallerContext,
  ): Promise<IssuedCertificate | undefined> {
    const issued = await this.#authority.get(serialNumber);
    return issued && (await this.isVisible(issued, context))
      ? issued
      : undefined;
  }

  /**
   * Whether the caller may see a certificate: their own, and those of users
   * whose certificates they may see. With `readable: all` and nothing hidden
   * from the caller, also those of hosts, services and deleted users.
   */
  async isVisible(
    { owners = [] }: Pick<IssuedCertificate, 'owners'>,
    context: CallerContext,
  ): Promise<boolean> {
    const { caller } = context;
    const username = caller.account?.username;
    if (
      (this.#config.readable === 'all' &&
        this.#directory.isVisibleOfAll('certificates', caller)) ||
      (username !== undefined && owners.includes(username))
    ) {
      return true;
    }
    const fields = new Set(['is_private'] as const);
    for (const owner of owners) {
      const query = { username: owner, fields };
      const user = await this.#directory.getUser(query, context);
      if (user && this.#directory.isVisible('certificates', { user, caller })) {
        return true;
      }
    }
    return false;
  }
}

type Authority = Pick<CertificateAuthority, 'get' | 'listByUsers'>;

/**
 * Lists the certificates of one user: those of the record and those that the
 * CAs list, revoked and expired ones included. Other users' certificates that
 * the caller may not see are left out. Users can write to their own records,
 * so that each certificate there is looked up by its serial number.
 */
export class UserCertificates {
  readonly #directory: PrivateDirectory;
  readonly #authority: Authority;

  constructor(options: {
    readonly directory: PrivateDirectory;
    readonly authority: Authority;
  }) {
    this.#directory = options.directory;
    this.#authority = options.authority;
  }

  /**
   * One page of them, the one that became valid last first; `undefined` when
   * there is no such user.
   *
   * @throws what {@link CertificateAuthority.listByUsers} throws.
   */
  async list(
    { username, page }: { readonly username: string } & Paged,
    context: CallerContext,
  ): Promise<Page<UserCertificate> | undefined> {
    const user = await this.#directory.getUser(
      { username, fields: new Set(['certificates', 'is_private'] as const) },
      context,
    );
    if (!user) {
      return undefined;
    }
    const { caller } = context;
    if (!this.#directory.isVisible('certificates', { user, caller })) {
      return { items: [], total: 0 };
    }
    const issued = await this.#issuedTo(user.username);
    const unlisted = (user.certificates ?? [])
      .filter(der => !issued.some(({ certificate }) => certificate.equals(der)))
      .map(certificate => ({
        certificate,
        owners: [user.username],
        isForeign: undefined,
      }));
    const all = newestFirst([...issued, ...unlisted]);
    const items = await this.#lookUp(slicePage(all, page));
    return { items, total: all.length };
  }

  /** Replaces certificates by the records that the CAs have of them. */
  async #lookUp(
    certificates: readonly ReadCertificate[],
  ): Promise<readonly UserCertificate[]> {
    const held: UserCertificate[] = [];
    let isAvailable = true;
    for (const { held: one, serialNumber } of certificates) {
      if (one.cacn !== undefined || !isAvailable) {
        held.push(one);
        continue;
      }
      try {
        const issued = await this.#authority.get(serialNumber);
        const isSame = issued?.certificate.equals(one.certificate);
        held.push(isSame ? issued! : { ...one, isForeign: true });
      } catch (error) {
        if (!isError(error) || error.name !== 'AuthorityUnavailableError') {
          throw error;
        }
        isAvailable = false;
        held.push(one);
      }
    }
    return held;
  }

  async #issuedTo(username: string): Promise<readonly IssuedCertificate[]> {
    const listed = await this.#authority.listByUsers?.({
      usernames: [username],
      which: 'all',
    });
    return listed?.get(username) ?? [];
  }
}

interface ReadCertificate {
  readonly held: UserCertificate;
  readonly serialNumber: bigint;
}

function newestFirst(
  certificates: readonly UserCertificate[],
): readonly ReadCertificate[] {
  return certificates
    .flatMap(held => {
      const read = describeCertificate(held.certificate);
      // A value of a record need not be a proper certificate.
      if (!read.ok || read.certificate.serialNumber < 0n) {
        return [];
      }
      const { notBefore: since, serialNumber } = read.certificate;
      return [{ held, since, serialNumber }];
    })
    .sort(
      (a, b) =>
        b.since - a.since ||
        Buffer.compare(a.held.certificate, b.held.certificate),
    );
}

/** A certificate of a user, with what a CA of the gateway knows of it. */
export type UserCertificate =
  | IssuedCertificate
  | (Pick<IssuedCertificate, 'certificate' | 'owners'> & {
      readonly cacn?: undefined;
      readonly chain?: undefined;
      readonly revocation?: undefined;
      /** Whether no CA has it on record; `undefined`: a CA is not available. */
      readonly isForeign: true | undefined;
    });
