import type { LoggedCertificate } from '@directory-gateway/ca';
import {
  Certificate,
  REVOCATION_REASONS,
  type CertificateDescription,
} from '@directory-gateway/x509';
import type { Knex } from 'knex';
import {
  AUTHORITIES,
  CERTIFICATES,
  type AuthorityRow,
  type CertificateRow,
} from '../database/rows';

/** Number of certificates that are looked up in one query. */
const BATCH_SIZE = 200;

/** Result of {@link importLog}. */
export interface ImportResult {
  /** Certificates that were only in the log. */
  readonly certificates: number;
  /** Revocations of recorded certificates that were only in the log. */
  readonly revocations: number;
  /** Certificates of issuers that are not on record. */
  readonly unknownIssuers: number;
}

/**
 * Records the certificates and revocations of the issuance log that the database
 * does not have: it was restored from an older backup, or a process was killed.
 */
export async function importLog(options: {
  readonly database: Knex;
  readonly logged: AsyncIterable<LoggedCertificate>;
}): Promise<ImportResult> {
  const { database, logged } = options;
  const issuers = new Set(
    (await database<AuthorityRow>(AUTHORITIES).select('id')).map(row => row.id),
  );
  const result = { certificates: 0, revocations: 0, unknownIssuers: 0 };
  for await (const batch of batchesOf(logged)) {
    const rows = await findRows(database, batch);
    for (const entry of batch) {
      const row = rows.get(String(entry.serialNumber));
      if (!issuers.has(entry.issuerId)) {
        result.unknownIssuers += 1;
      } else if (!row?.hasCertificate) {
        await recordEntry(database, entry);
        result.certificates += 1;
      } else if (isUnrecorded(entry, row)) {
        await recordRevocation(database, entry);
        result.revocations += 1;
      }
    }
  }
  return result;
}

/** Certificates that are only in the log or only in the database. */
export interface LogDifferences {
  readonly onlyInLog: readonly bigint[];
  readonly onlyInDatabase: readonly bigint[];
}

/**
 * Compares the issuance log with the database.
 *
 * @param options - `issuerIds`: the issuers that write to this log
 */
export async function compareLog(options: {
  readonly database: Knex;
  readonly logged: AsyncIterable<LoggedCertificate>;
  readonly issuerIds: readonly string[];
}): Promise<LogDifferences> {
  const { database, logged, issuerIds } = options;
  // Read before the log: a certificate is logged before it is recorded.
  const recorded = new Set(
    (
      await database<CertificateRow>(CERTIFICATES)
        .whereIn('authority_id', [...issuerIds])
        .whereNotNull('certificate')
        .select('serial_number')
    ).map(row => row.serial_number),
  );
  const onlyInLog: bigint[] = [];
  for await (const batch of batchesOf(logged)) {
    // The log may contain certificates of earlier issuers, and newer ones.
    const rows = await findRows(database, batch);
    for (const { serialNumber } of batch) {
      recorded.delete(String(serialNumber));
      if (!rows.get(String(serialNumber))?.hasCertificate) {
        onlyInLog.push(serialNumber);
      }
    }
  }
  return { onlyInLog, onlyInDatabase: [...recorded].map(BigInt) };
}

interface FoundRow {
  readonly hasCertificate: boolean;
  readonly reason: number | null;
  readonly revokedAt: Date | null;
}

async function findRows(
  database: Knex,
  batch: readonly LoggedCertificate[],
): Promise<ReadonlyMap<string, FoundRow>> {
  const rows: (Pick<
    CertificateRow,
    'serial_number' | 'revoked_at' | 'revocation_reason'
  > & {
    readonly has_certificate: boolean | number;
  })[] = await database(CERTIFICATES)
    .whereIn(
      'serial_number',
      batch.map(({ serialNumber }) => String(serialNumber)),
    )
    .select(
      'serial_number',
      'revoked_at',
      'revocation_reason',
      database.raw('certificate is not null as has_certificate'),
    );
  return new Map(
    rows.map(row => [
      row.serial_number,
      {
        // SQLite has no booleans.
        hasCertificate: Boolean(row.has_certificate),
        reason: row.revocation_reason,
        revokedAt: row.revoked_at === null ? null : new Date(row.revoked_at),
      },
    ]),
  );
}

/**
 * Whether the log contains a revocation that is not in the database, or whose
 * date or reason differs there, which the signer refuses. A hold of a recorded
 * certificate is not imported: it may have been released after the last CRL.
 */
function isUnrecorded(
  { revocation }: LoggedCertificate,
  { reason, revokedAt }: FoundRow,
): boolean {
  return (
    revocation !== undefined &&
    revocation.reason !== 'certificateHold' &&
    (reason !== REVOCATION_REASONS[revocation.reason ?? 'unspecified'] ||
      revokedAt?.getTime() !== revocation.revokedAt.getTime())
  );
}

/** Recorded revoker of a certificate whose revocation is only in the log. */
const UNKNOWN_REVOKER = 'issuance log';

function revocationColumns({
  revocation,
}: LoggedCertificate): Pick<
  CertificateRow,
  'revoked_at' | 'revocation_reason' | 'revoked_by'
> {
  return {
    revoked_at: revocation?.revokedAt ?? null,
    revocation_reason: revocation
      ? REVOCATION_REASONS[revocation.reason ?? 'unspecified']
      : null,
    revoked_by: revocation ? UNKNOWN_REVOKER : null,
  };
}

async function recordEntry(
  database: Knex,
  entry: LoggedCertificate,
): Promise<void> {
  const { notBefore, notAfter } = describe(entry);
  const row: CertificateRow = {
    serial_number: String(entry.serialNumber),
    authority_id: entry.issuerId,
    username: entry.username,
    profile: entry.profile,
    requested_by: entry.requestedBy,
    request_key: null,
    reserved_at: entry.signedAt,
    not_before: new Date(notBefore),
    not_after: new Date(notAfter),
    certificate: entry.certificate,
    ...revocationColumns(entry),
  };
  await database.transaction(async transaction => {
    await transaction<CertificateRow>(CERTIFICATES)
      .insert(row)
      .onConflict('serial_number')
      .ignore();
    // The serial number was reserved, and its process ended.
    await transaction<CertificateRow>(CERTIFICATES)
      .where({ serial_number: row.serial_number })
      .whereNull('certificate')
      .update({ certificate: entry.certificate, ...revocationColumns(entry) });
    await countChange(transaction, entry);
  });
}

async function recordRevocation(
  database: Knex,
  entry: LoggedCertificate,
): Promise<void> {
  await database.transaction(async transaction => {
    await transaction<CertificateRow>(CERTIFICATES)
      .where({ serial_number: String(entry.serialNumber) })
      .update(revocationColumns(entry));
    await countChange(transaction, entry);
  });
}

/** Counts the change, so that the next CRL contains it. */
async function countChange(
  transaction: Knex,
  { issuerId, revocation }: LoggedCertificate,
): Promise<void> {
  if (revocation) {
    await transaction<AuthorityRow>(AUTHORITIES)
      .where({ id: issuerId })
      .increment('changes');
  }
}

function describe({
  certificate,
  serialNumber,
}: LoggedCertificate): CertificateDescription {
  const result = new Certificate(certificate).description;
  if (!result.ok) {
    throw new Error(
      `Certificate ${serialNumber} in the issuance log is invalid: ${result.code}`,
    );
  }
  return result.certificate;
}

async function* batchesOf(
  logged: AsyncIterable<LoggedCertificate>,
): AsyncIterable<readonly LoggedCertificate[]> {
  let batch: LoggedCertificate[] = [];
  for await (const entry of logged) {
    batch.push(entry);
    if (batch.length === BATCH_SIZE) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) {
    yield batch;
  }
}
