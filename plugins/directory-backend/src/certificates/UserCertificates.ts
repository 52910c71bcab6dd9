import { isError } from '@backstage/errors';
import { Certificate } from '@directory-gateway/x509';
import { bulkhead } from 'cockatiel';
import {
  type CallerContext,
  type Page,
  type Paged,
  type PrivateDirectory,
  slicePage,
} from '@directory-gateway/directory-core';
import type {
  CertificateAuthorities,
  LocatedCertificate,
} from './CertificateAuthorities';
import type { CertificateRecord } from './records/certificateRows';
import type { CertificateRecords } from './records/CertificateRecords';

/** Maximum number of concurrent lookups for one list. */
const MAX_LOOKUPS = 4;

/** Maximum time for which a list waits for lookups, in milliseconds. */
const LOOKUPS_TIMEOUT_MS = 10_000;

/** A certificate of a user, with the information of the gateway's CAs. */
export type UserCertificate =
  | LocatedCertificate
  | (Pick<LocatedCertificate, 'certificate' | 'owners'> & {
      readonly cacn?: undefined;
      readonly chain?: undefined;
      readonly record?: undefined;
      readonly revocation?: undefined;
      /**
       * `true` when it was not issued by a CA of the portal; `undefined` when a
       * CA is unavailable.
       */
      readonly isForeign: true | undefined;
    });

/** Options of {@link UserCertificates}. */
export interface UserCertificatesOptions {
  readonly authorities: Pick<
    CertificateAuthorities,
    'get' | 'present' | 'recorded'
  >;
  readonly directory: PrivateDirectory;
  readonly records: Pick<CertificateRecords, 'listOf'>;
  /** Returns the ID of an account, as `Principal.stableId`. */
  readonly stableIdOf: (username: string) => string | undefined;
}

/** A certificate in a list, before its state is known. */
interface Listed {
  readonly serialNumber: bigint;
  /** Milliseconds since 1970. */
  readonly startsAt: number;
  /** `undefined` when only the CA has the certificate. */
  readonly certificate: Certificate | undefined;
  readonly record?: CertificateRecord;
}

/**
 * Lists the certificates of one user: those in the user's record and those in
 * the gateway's records, including revoked and expired ones. Users can write to
 * their own records, so each certificate in them is looked up by serial number.
 */
export class UserCertificates {
  readonly #options: UserCertificatesOptions;

  constructor(options: UserCertificatesOptions) {
    this.#options = options;
  }

  /**
   * Returns one page of certificates, sorted by start of validity with the
   * latest first; empty when the caller may not see them, `undefined` when the
   * user does not exist.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async list(
    { username, page }: { readonly username: string } & Paged,
    context: CallerContext,
  ): Promise<Page<UserCertificate> | undefined> {
    const { directory, records, stableIdOf } = this.#options;
    const user = await directory.getUser(
      { username, fields: new Set(['certificates', 'is_private'] as const) },
      context,
    );
    if (!user) {
      return undefined;
    }
    const { caller } = context;
    if (!directory.isVisible('certificates', { user, caller })) {
      return { items: [], total: 0 };
    }
    const stableId = stableIdOf(user.username);
    const recorded = await records.listOf({
      username: user.username,
      stableId,
    });
    const all = newestFirst(recorded, user.certificates ?? []);
    const items = await this.#lookUp(slicePage(all, page), {
      owners: [user.username],
      signal: AbortSignal.any([
        context.signal,
        AbortSignal.timeout(LOOKUPS_TIMEOUT_MS),
      ]),
    });
    return { items, total: all.length };
  }

  /**
   * Returns the certificates as the CAs or the records describe them. After the
   * first failure or an abort, the other certificates are not looked up.
   */
  async #lookUp(
    listed: readonly Listed[],
    options: {
      readonly owners: readonly string[];
      readonly signal: AbortSignal;
    },
  ): Promise<readonly UserCertificate[]> {
    const { authorities } = this.#options;
    const { owners, signal } = options;
    const lookups = bulkhead(MAX_LOOKUPS, Infinity);
    let isAvailable = true;
    const found = await Promise.all(
      listed.map(async ({ certificate, record, serialNumber }) => {
        const known = record && authorities.present(record);
        if (known && authorities.recorded.includes(record.authority)) {
          return known;
        }
        const unknown = certificate && {
          certificate,
          owners,
          isForeign: undefined,
        };
        return await lookups.execute(async () => {
          if (!isAvailable || signal.aborted) {
            return known ?? unknown;
          }
          try {
            const issued = await authorities.get(serialNumber, { signal });
            const isSame = certificate
              ? issued?.certificate.der.equals(certificate.der)
              : issued?.record?.id === record?.id;
            return issued && isSame
              ? issued
              : unknown && { ...unknown, isForeign: true as const };
          } catch (error) {
            isAvailable = false;
            const isUnavailable =
              isError(error) && error.name === 'AuthorityUnavailableError';
            if (!signal.aborted && !isUnavailable) {
              throw error;
            }
            return known ?? unknown;
          }
        });
      }),
    );
    return found.filter(each => each !== undefined);
  }
}

/**
 * Merges and sorts certificates, and omits values that are not valid
 * certificates.
 */
function newestFirst(
  recorded: readonly CertificateRecord[],
  ofUser: readonly Buffer[],
): readonly Listed[] {
  const listed = new Map<string, Listed>();
  for (const record of recorded) {
    const { certificate, notBefore, serialNumber } = record;
    const startsAt = notBefore.getTime();
    const key = `${serialNumber} ${record.publicKeySha256}`;
    listed.set(key, { certificate, record, serialNumber, startsAt });
  }
  for (const der of ofUser) {
    const certificate = new Certificate(der);
    const { description } = certificate;
    if (description.ok && description.certificate.serialNumber >= 0n) {
      const { notBefore, publicKey, serialNumber } = description.certificate;
      const key = `${serialNumber} ${publicKey.sha256}`;
      const { record } = listed.get(key) ?? {};
      const isOther = record?.certificate?.der.equals(der) === false;
      listed.set(isOther ? der.toString('base64') : key, {
        certificate,
        record: isOther ? undefined : record,
        serialNumber,
        startsAt: notBefore,
      });
    }
  }
  return [...listed.values()].sort(
    (a, b) =>
      b.startsAt - a.startsAt || (a.serialNumber < b.serialNumber ? -1 : 1),
  );
}
