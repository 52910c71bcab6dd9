import { isError } from '@backstage/errors';
import type {
  CertificateAuthority,
  IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import { bulkhead } from 'cockatiel';
import type { CallerContext } from '../directory/Caller';
import type { Paged } from '../directory/Directory';
import { type Page, slicePage } from '../directory/Page';
import type { PrivateDirectory } from '../directory/PrivateDirectory';
import type {
  CertificateNotes,
  CertificateRecords,
} from './CertificateRecords';
import type { CertificatesConfig } from './CertificatesConfig';

/** Maximum number of concurrent lookups for one list. */
const MAX_LOOKUPS = 4;

/** Maximum time for which a list waits for lookups, in milliseconds. */
const LOOKUPS_TIMEOUT_MS = 10_000;

/** Options of {@link CertificateReader}. */
export interface CertificateReaderOptions {
  readonly authority: Pick<CertificateAuthority, 'get'>;
  readonly config: Pick<CertificatesConfig, 'readable'>;
  readonly directory: PrivateDirectory;
  readonly records: Pick<CertificateRecords, 'notesOf'>;
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
   * Like {@link CertificateAuthority.get}, but only if the caller may see the
   * certificate.
   */
  async get(
    serialNumber: bigint,
    context: CallerContext,
  ): Promise<IssuedCertificate | undefined> {
    const { signal } = context;
    const issued = await this.#options.authority.get(serialNumber, { signal });
    return issued && (await this.isVisible(issued, context))
      ? issued
      : undefined;
  }

  /** Adds the label and profile to a certificate that the caller may see. */
  async withNotes(
    issued: IssuedCertificate,
    serialNumber: bigint,
  ): Promise<UserCertificate> {
    const notes = await this.#options.records.notesOf([serialNumber]);
    return { ...issued, ...notes.get(serialNumber) };
  }

  /**
   * Returns whether the caller may see a certificate. Callers may see their own
   * certificates and those of users whose certificates they may see. With
   * `readable: all` and nothing hidden from the caller, they may also see those
   * of hosts, services and deleted users.
   */
  async isVisible(
    { owners = [] }: Pick<IssuedCertificate, 'owners'>,
    context: CallerContext,
  ): Promise<boolean> {
    const { config, directory } = this.#options;
    const { caller, visible } = context;
    const username = caller.account?.username;
    if (
      (config.readable === 'all' &&
        !visible?.users &&
        directory.isVisibleOfAll('certificates', caller)) ||
      (username !== undefined && owners.includes(username))
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

/** A certificate of a user, with the information of the gateway's CAs. */
export type UserCertificate = CertificateNotes &
  (
    | IssuedCertificate
    | (Pick<IssuedCertificate, 'certificate' | 'owners'> & {
        readonly cacn?: undefined;
        readonly chain?: undefined;
        readonly revocation?: undefined;
        /**
         * `true` when it was not issued by a CA of the portal; `undefined` when
         * a CA is unavailable.
         */
        readonly isForeign: true | undefined;
      })
  );

/**
 * Lists the certificates of one user: those in the user's record and those that
 * the CAs list, including revoked and expired ones. Users can write to their
 * own records, so each certificate in them is looked up by serial number.
 */
export class UserCertificates {
  readonly #directory: PrivateDirectory;
  readonly #authority: Pick<CertificateAuthority, 'get' | 'listByUsers'>;
  readonly #records: Pick<CertificateRecords, 'notesOf'> | undefined;

  constructor(options: {
    readonly directory: PrivateDirectory;
    readonly authority: Pick<CertificateAuthority, 'get' | 'listByUsers'>;
    /** `undefined` without `directory.certificates`. */
    readonly records?: Pick<CertificateRecords, 'notesOf'>;
  }) {
    this.#records = options.records;
    this.#directory = options.directory;
    this.#authority = options.authority;
  }

  /**
   * Returns one page of certificates, sorted by start of validity with the
   * latest first; empty when the caller may not see them, `undefined` when the
   * user does not exist.
   *
   * @throws the errors of {@link CertificateAuthority.listByUsers}.
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
    const listed = await this.#authority.listByUsers?.({
      usernames: [user.username],
      which: 'all',
    });
    const issued = listed?.get(user.username) ?? [];
    const ofRecord = (user.certificates ?? [])
      .filter(
        der => !issued.some(({ certificate }) => isSame(certificate, der)),
      )
      .map(der => ({
        certificate: new Certificate(der),
        owners: [user.username],
        isForeign: undefined,
      }));
    const all = newestFirst([...issued, ...ofRecord]);
    const shown = slicePage(all, page);
    const notes = await this.#records?.notesOf(
      shown.map(({ serialNumber }) => serialNumber),
    );
    const items = await this.#lookUp(
      shown.map(described => ({
        ...described,
        notes: notes?.get(described.serialNumber),
      })),
      AbortSignal.any([
        context.signal,
        AbortSignal.timeout(LOOKUPS_TIMEOUT_MS),
      ]),
    );
    return { items, total: all.length };
  }

  /**
   * Replaces certificates of the record with those that the CAs have issued.
   * After the first failure or an abort, the other certificates are not looked
   * up.
   */
  async #lookUp(
    described: readonly (DescribedCertificate & {
      readonly notes: CertificateNotes | undefined;
    })[],
    signal: AbortSignal,
  ): Promise<readonly UserCertificate[]> {
    const lookups = bulkhead(MAX_LOOKUPS, Infinity);
    let isAvailable = true;
    return await Promise.all(
      described.map(async ({ certificate: one, serialNumber, notes }) => {
        if (one.cacn !== undefined) {
          return { ...one, ...notes };
        }
        return await lookups.execute(async () => {
          if (!isAvailable || signal.aborted) {
            return one;
          }
          try {
            const issued = await this.#authority.get(serialNumber, { signal });
            return issued && isSame(issued.certificate, one.certificate.der)
              ? { ...issued, ...notes }
              : { ...one, isForeign: true };
          } catch (error) {
            isAvailable = false;
            const isUnavailable =
              isError(error) && error.name === 'AuthorityUnavailableError';
            if (!signal.aborted && !isUnavailable) {
              throw error;
            }
            return one;
          }
        });
      }),
    );
  }
}

function isSame(certificate: Certificate, der: Buffer): boolean {
  return certificate.der.equals(der);
}

interface DescribedCertificate {
  readonly certificate: UserCertificate;
  readonly serialNumber: bigint;
}

/** Sorts certificates and omits values that are not valid certificates. */
function newestFirst(
  certificates: readonly UserCertificate[],
): readonly DescribedCertificate[] {
  return certificates
    .flatMap(certificate => {
      const { description } = certificate.certificate;
      if (!description.ok || description.certificate.serialNumber < 0n) {
        return [];
      }
      const { notBefore, serialNumber } = description.certificate;
      return [{ certificate, notBefore, serialNumber }];
    })
    .sort(
      (a, b) =>
        b.notBefore - a.notBefore ||
        Buffer.compare(
          a.certificate.certificate.der,
          b.certificate.certificate.der,
        ),
    );
}
