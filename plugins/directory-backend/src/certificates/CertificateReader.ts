import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { CallerContext } from '../directory/Caller';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type { CertificatesConfig } from './CertificatesConfig';

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
