import type {
  CallerContext,
  PrivateDirectory,
} from '@directory-gateway/directory-core';
import type {
  CertificateAuthorities,
  LocatedCertificate,
} from './CertificateAuthorities';
import type { CertificatesConfig } from './CertificatesConfig';
import { isOwner } from './renewal';

/** Options of {@link CertificateReader}. */
export interface CertificateReaderOptions {
  readonly authorities: Pick<CertificateAuthorities, 'get'>;
  readonly config: Pick<CertificatesConfig, 'readable'>;
  readonly directory: PrivateDirectory;
}

/**
 * Reads certificates by serial number. A certificate that the caller may not
 * see in the record of its owner is reported as not found.
 */
export class CertificateReader {
  readonly #options: CertificateReaderOptions;

  constructor(options: CertificateReaderOptions) {
    this.#options = options;
  }

  /**
   * Like {@link CertificateAuthorities.get}, but only if the caller may see the
   * certificate.
   */
  async get(
    serialNumber: bigint,
    context: CallerContext,
  ): Promise<LocatedCertificate | undefined> {
    const { authorities } = this.#options;
    const { signal } = context;
    const issued = await authorities.get(serialNumber, { signal });
    return issued && (await this.isVisible(issued, context))
      ? issued
      : undefined;
  }

  /**
   * Returns whether the caller may see a certificate. Callers may see their own
   * certificates and those of users whose certificates they may see. With
   * `readable: all` and nothing hidden from the caller, they may also see those
   * of hosts, services and deleted users.
   */
  async isVisible(
    { owners = [], record }: Pick<LocatedCertificate, 'owners' | 'record'>,
    context: CallerContext,
  ): Promise<boolean> {
    const { config, directory } = this.#options;
    const { caller, visible } = context;
    const username = caller.account?.username;
    if (
      (config.readable === 'all' &&
        !visible?.users &&
        directory.isVisibleOfAll('certificates', caller)) ||
      (record
        ? isOwner(caller, record)
        : username !== undefined && owners.includes(username))
    ) {
      return true;
    }
    const fields = new Set(['is_private'] as const);
    for (const owner of owners) {
      const query = { username: owner, fields };
      const user = await directory.getUser(query, context);
      if (user && directory.isVisible('certificates', { user, caller })) {
        return true;
      }
    }
    return false;
  }
}
