import {
  AuthorityUnavailableError,
  type Database,
  type Revocation,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  readPemBlocks,
  REVOCATION_REASONS,
} from '@directory-gateway/x509';
import { createHash, X509Certificate } from 'node:crypto';

/** Table of certificates; its migration describes the columns. */
export const RECORDS = 'directory_certificate_records';

/** Reason code of a certificate on hold (RFC 5280 §5.3.1). */
export const ON_HOLD = REVOCATION_REASONS.certificateHold;

/** PostgreSQL returns a Date, SQLite milliseconds since 1970. */
export type Timestamp = Date | number;

/** Reason for which the gateway puts a certificate on hold. */
export type HoldCause = 'locked' | 'deleted';

/** A row of the table. */
export interface CertificateRow {
  id: string;
  authority: string;
  serial_number: string | null;
  issuer: string | null;
  certificate: Buffer | null;
  chain: string | null;
  public_key_sha256: string | null;
  username: string | null;
  subject_id: string | null;
  profile: string | null;
  label: string | null;
  state: 'reserved' | 'valid' | 'held' | 'revoked' | 'abandoned';
  reason: number | null;
  revoked_at: Timestamp | null;
  revoked_by: string | null;
  requested_by: string | null;
  request_key: string | null;
  reserved_at: Timestamp;
  recorded_at: Timestamp | null;
  not_before: Timestamp | null;
  not_after: Timestamp | null;
  renewed_from: string | null;
  is_renewed_by_key: boolean | number;
  hold_cause: HoldCause | null;
  hold_caused_at: Timestamp | null;
}

/** A certificate: several CAs may use the same serial number. */
export interface CertificateKey {
  /** Registered name of the CA. */
  readonly authority: string;
  readonly serialNumber: bigint;
}

/** An account that owns certificates. */
export interface CertificateOwner {
  readonly username: string;
  /** ID of the account, as `Principal.stableId`. */
  readonly stableId?: string;
}

/** A certificate that was issued through the gateway. */
export interface CertificateRecord extends CertificateKey {
  readonly id: string;
  /** Name of the user at the time of issuance. */
  readonly username: string;
  /** `undefined` when the service account could not read it. */
  readonly subjectId: string | undefined;
  readonly profile: string | undefined;
  /** Text that the user chose to distinguish certificates. */
  readonly label: string | undefined;
  /** `undefined` when 0.2.0 issued it with FreeIPA. */
  readonly certificate: Certificate | undefined;
  /** The issuers in DER, nearest first. */
  readonly issuers: readonly Buffer[];
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly publicKeySha256: string;
  readonly revocation: Revocation | undefined;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Serial number of the certificate that this one renews. */
  readonly renewedFrom: bigint | undefined;
}

/** Returns a query of the table. */
export function recordsIn(database: Database) {
  return database<CertificateRow>(RECORDS);
}

/**
 * Runs a query of the gateway's tables. An error is not the caller's fault, and
 * must not look like a missing record or permit a blocked key.
 *
 * @throws AuthorityUnavailableError when `work` fails for any reason
 */
export async function orUnavailable<T>(work: () => PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AuthorityUnavailableError) {
      throw error;
    }
    throw new AuthorityUnavailableError('The database is not available', error);
  }
}

/**
 * Returns the keys under which certificates of an account are listed: without an
 * ID in the record, a certificate belongs to the user name.
 */
export function keysOf({ username, stableId }: CertificateOwner): string[] {
  return stableId === undefined ? [username] : [stableId, username];
}

/** Returns the columns that identify a certificate. */
export function columnsOfKey({ authority, serialNumber }: CertificateKey) {
  return { authority, serial_number: String(serialNumber) };
}

/** Returns the record of a row with a certificate. */
export function recordOf(
  row: Omit<
    CertificateRow,
    | `${string}_by`
    | `hold_${string}`
    | 'issuer'
    | 'is_renewed_by_key'
    | 'request_key'
  >,
): CertificateRecord {
  const { revoked_at: revokedAt } = row;
  return {
    id: row.id,
    authority: row.authority,
    serialNumber: BigInt(row.serial_number!),
    username: row.username!,
    subjectId: row.subject_id ?? undefined,
    profile: row.profile ?? undefined,
    label: row.label ?? undefined,
    certificate: row.certificate ? new Certificate(row.certificate) : undefined,
    issuers: readPemBlocks(row.chain ?? '', { label: 'CERTIFICATE' }),
    publicKeySha256: row.public_key_sha256!,
    revocation:
      row.state === 'valid'
        ? undefined
        : {
            reason: row.reason ?? 0,
            revokedAt: revokedAt === null ? undefined : new Date(revokedAt),
          },
    // 0.2.0 recorded certificates of FreeIPA when they were issued.
    notBefore: new Date((row.not_before ?? row.recorded_at)!),
    notAfter: new Date(row.not_after!),
    renewedFrom:
      row.renewed_from === null ? undefined : BigInt(row.renewed_from),
  };
}

/** Returns the SHA-256 of a certificate's SubjectPublicKeyInfo, lower-case hex. */
export function keyHashOf(der: Buffer): string {
  const { publicKey } = new X509Certificate(der);
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
