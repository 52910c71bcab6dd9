import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { describeCertificate } from '@directory-gateway/x509';
import type { DirectoryContext, OfUser, Paged } from '../directory/Directory';
import { slicePage, type Page } from '../directory/Page';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { HeldCertificate } from './HeldCertificate';

/**
 * Lists the certificates of one user: those of the record and those that the
 * CAs list, revoked and expired ones included. Other users' certificates that
 * the caller may not see are left out.
 */
export class UserCertificates {
  readonly #directory: PrivateDirectory;
  readonly #authority: Pick<CertificateAuthority, 'listByUsers'>;

  constructor(options: {
    readonly directory: PrivateDirectory;
    readonly authority: Pick<CertificateAuthority, 'listByUsers'>;
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
    { username, page }: OfUser & Paged,
    context: DirectoryContext,
  ): Promise<Page<HeldCertificate> | undefined> {
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
    const alone = (user.certificates ?? [])
      .filter(der => !issued.some(({ certificate }) => certificate.equals(der)))
      .map(certificate => ({ certificate, owners: [user.username] }));
    const all = newestFirst([...issued, ...alone]);
    return { items: slicePage(all, page), total: all.length };
  }

  async #issuedTo(username: string): Promise<readonly IssuedCertificate[]> {
    const listed = await this.#authority.listByUsers?.({
      usernames: [username],
      which: 'all',
    });
    return listed?.get(username) ?? [];
  }
}

function newestFirst(
  certificates: readonly HeldCertificate[],
): readonly HeldCertificate[] {
  return certificates
    .flatMap(held => {
      const read = describeCertificate(held.certificate);
      // What somebody put into a record need not be a proper certificate.
      return read.ok && read.certificate.serialNumber >= 0n
        ? [{ held, since: read.certificate.notBefore }]
        : [];
    })
    .sort(
      (a, b) =>
        b.since - a.since ||
        Buffer.compare(a.held.certificate, b.held.certificate),
    )
    .map(({ held }) => held);
}
