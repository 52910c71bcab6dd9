import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { describeCertificate } from '@directory-gateway/x509';
import type { DirectoryContext, OfUser, Paged } from '../directory/Directory';
import { slicePage, type Page } from '../directory/Page';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { CertificatesConfig } from './CertificatesConfig';
import type { HeldCertificate } from './HeldCertificate';

/**
 * The certificates of one user: those of the record, and of the authorities'
 * those that are revoked or over, as far as the caller may see them.
 */
export class UserCertificates {
  readonly #directory: PrivateDirectory;
  readonly #authority: Pick<CertificateAuthority, 'listByUsers'>;
  readonly #config: Pick<CertificatesConfig, 'readable'> | undefined;

  constructor(options: {
    readonly directory: PrivateDirectory;
    readonly authority: Pick<CertificateAuthority, 'listByUsers'>;
    /** `undefined`: no authority is read. */
    readonly config: Pick<CertificatesConfig, 'readable'> | undefined;
  }) {
    this.#directory = options.directory;
    this.#authority = options.authority;
    this.#config = options.config;
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
    const isOwn = caller.account?.username === user.username;
    const onRecord = user.certificates ?? [];
    const issued = (await this.#issuedTo(user.username)).filter(
      ({ certificate }) =>
        isOwn ||
        this.#config?.readable !== 'own' ||
        onRecord.some(der => der.equals(certificate)),
    );
    const alone = onRecord
      .filter(der => !issued.some(({ certificate }) => certificate.equals(der)))
      .map(certificate => ({ certificate, owners: [user.username] }));
    const all = newestFirst([...issued, ...alone]);
    return { items: slicePage(all, page), total: all.length };
  }

  async #issuedTo(username: string): Promise<readonly IssuedCertificate[]> {
    const listed = this.#config
      ? await this.#authority.listByUsers?.({
          usernames: [username],
          which: 'all',
        })
      : undefined;
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
