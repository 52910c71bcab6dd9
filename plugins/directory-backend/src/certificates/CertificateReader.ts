import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Directory, DirectoryContext } from '../directory/Directory';
import type { CertificatesConfig } from './CertificatesConfig';

/**
 * Certificates by serial number, as far as `directory.certificates.readable`
 * lets the caller see them; another's is then not there.
 */
export class CertificateReader {
  readonly #directory: Pick<Directory, 'findPrincipal'>;
  readonly #authority: Pick<CertificateAuthority, 'get'>;
  readonly #config: Pick<CertificatesConfig, 'readable'>;

  constructor(options: {
    readonly directory: Pick<Directory, 'findPrincipal'>;
    readonly authority: Pick<CertificateAuthority, 'get'>;
    readonly config: Pick<CertificatesConfig, 'readable'>;
  }) {
    this.#directory = options.directory;
    this.#authority = options.authority;
    this.#config = options.config;
  }

  /** As {@link CertificateAuthority.get}, as far as the caller may see it. */
  async get(
    serialNumber: bigint,
    context: DirectoryContext,
  ): Promise<IssuedCertificate | undefined> {
    const issued = await this.#authority.get(serialNumber);
    return issued && (await this.#isVisible(issued, context))
      ? issued
      : undefined;
  }

  async #isVisible(
    { owners = [] }: IssuedCertificate,
    context: DirectoryContext,
  ): Promise<boolean> {
    if (this.#config.readable === 'all') {
      return true;
    }
    if (this.#config.readable === 'own') {
      const own = context.caller.account?.username;
      return own !== undefined && owners.includes(own);
    }
    for (const username of owners) {
      const owner = await this.#directory.findPrincipal({ username }, context);
      if (owner?.served) {
        return true;
      }
    }
    return false;
  }
}
