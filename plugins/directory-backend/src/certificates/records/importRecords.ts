import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { createHash, randomUUID } from 'node:crypto';
import { keyHashOf, ON_HOLD, RECORDS, type Timestamp } from './certificateRows';
import {
  CertificateRecords,
  EMBEDDED,
  EMBEDDED_CERTIFICATES,
  OLD_HOLDS,
  RETENTION_MS,
} from './CertificateRecords';

const CERTIFICATES = 'directory_certificates';

/** Registered name of FreeIPA's CA. */
const FREEIPA = 'freeipa';

/** Number of rows to import at a time. */
const PAGE_SIZE = 200;

/** Columns of `directory_certificates`; `null` without a row. */
interface OldRow {
  readonly serial_number: string;
  readonly username: string;
  readonly subject_id: string | null;
  readonly profile: string | null;
  readonly label: string | null;
  readonly not_after: Timestamp;
  readonly recorded_at: Timestamp | null;
  readonly renewed_from: string | null;
  readonly is_renewed_by_key: boolean | number | null;
}

/** A certificate of the embedded CA of 0.2.0. */
interface EmbeddedRow extends OldRow {
  readonly authority_id: string;
  readonly chain: string;
  readonly requested_by: string;
  readonly reserved_at: Timestamp;
  readonly not_before: Timestamp;
  readonly certificate: Buffer;
  readonly revoked_at: Timestamp | null;
  readonly revocation_reason: number | null;
  readonly revoked_by: string | null;
}

/**
 * Imports the certificates, revocations and holds of 0.2.0 that are missing.
 * Must be called at start and every minute, because a process of 0.2.0 may
 * still run. Can be removed with the old tables in 0.4.
 */
export async function importRecords(database: Database): Promise<void> {
  const hasEmbeddedTable = await database.schema.hasTable(
    EMBEDDED_CERTIFICATES,
  );
  if (hasEmbeddedTable) {
    await insertPages(database, last => missingEmbedded(database, last));
  }
  await insertPages(database, async last => {
    const missing = missingFrom(database, {
      table: CERTIFICATES,
      authority: FREEIPA,
      last,
    });
    if (hasEmbeddedTable) {
      // Not those imported above: 0.2.0 may have issued another since then.
      missing.whereNotIn(
        'old.serial_number',
        database(EMBEDDED_CERTIFICATES).select('serial_number'),
      );
    }
    const rows = await missing.select('old.*');
    return rows.map((row: OldRow & { public_key: Buffer; is_revoked: 0 }) => ({
      ...commonColumns(row, FREEIPA),
      public_key_sha256: createHash('sha256')
        .update(row.public_key)
        .digest('hex'),
      state: row.is_revoked ? 'revoked' : 'valid',
      reserved_at: row.recorded_at,
    }));
  });
  if (hasEmbeddedTable) {
    await importRevocations(database);
  }
  await importHolds(database);
}

async function missingEmbedded(
  database: Database,
  last: string,
): Promise<MissingRow[]> {
  const rows: EmbeddedRow[] = await missingFrom(database, {
    table: EMBEDDED_CERTIFICATES,
    authority: EMBEDDED,
    last,
  })
    .join('embedded_ca_authorities as ca', 'ca.id', 'old.authority_id')
    .leftJoin(
      `${CERTIFICATES} as own`,
      'own.serial_number',
      'old.serial_number',
    )
    .whereNotNull('old.certificate')
    .select('own.*', 'old.*', 'ca.chain');
  return rows.map(row => ({
    ...commonColumns(row, EMBEDDED),
    issuer: row.authority_id,
    certificate: row.certificate,
    chain: row.chain,
    public_key_sha256: keyHashOf(row.certificate),
    ...revocationColumns(row),
    requested_by: row.requested_by,
    reserved_at: row.reserved_at,
    recorded_at: row.recorded_at ?? row.reserved_at,
    not_before: row.not_before,
  }));
}

function commonColumns(row: OldRow, authority: string) {
  return {
    id: randomUUID(),
    authority,
    serial_number: row.serial_number,
    username: row.username,
    subject_id: row.subject_id,
    profile: row.profile,
    label: row.label,
    recorded_at: row.recorded_at,
    not_after: row.not_after,
    renewed_from: row.renewed_from,
    is_renewed_by_key: Boolean(row.is_renewed_by_key),
  };
}

function revocationColumns(row: EmbeddedRow) {
  const isHeld = row.revocation_reason === ON_HOLD;
  const state = isHeld ? 'held' : 'revoked';
  return {
    state: row.revoked_at === null ? 'valid' : state,
    reason: row.revocation_reason,
    revoked_at: row.revoked_at,
    revoked_by: row.revoked_by,
  };
}

/** A row to insert. */
type MissingRow = ReturnType<typeof commonColumns>;

/** Selects a page of rows of an old table, as `old`, that are not imported. */
function missingFrom(
  database: Database,
  options: {
    readonly table: string;
    readonly authority: string;
    /** Serial number after which the page begins. */
    readonly last: string;
  },
) {
  return database(`${options.table} as old`)
    .leftJoin(`${RECORDS} as new`, join =>
      join
        .on('new.serial_number', 'old.serial_number')
        .andOnVal('new.authority', options.authority),
    )
    .whereNull('new.id')
    .where('old.serial_number', '>', options.last)
    .where('old.not_after', '>', new Date(Date.now() - RETENTION_MS))
    .orderBy('old.serial_number')
    .limit(PAGE_SIZE);
}

/** Inserts rows page by page, until none is missing. */
async function insertPages(
  database: Database,
  read: (last: string) => Promise<readonly MissingRow[]>,
): Promise<void> {
  let rows = await read('');
  while (rows.length > 0) {
    await database(RECORDS).insert(rows).onConflict().ignore();
    rows = await read(rows[rows.length - 1].serial_number);
  }
}

/** Imports what 0.2.0 has revoked, put on hold or released later. */
async function importRevocations(database: Database): Promise<void> {
  const records = new CertificateRecords(database);
  const changed: EmbeddedRow[] = await database(
    `${EMBEDDED_CERTIFICATES} as old`,
  )
    .join(`${RECORDS} as new`, 'new.serial_number', 'old.serial_number')
    .where('new.authority', EMBEDDED)
    .whereIn('new.state', ['valid', 'held'])
    .whereRaw('coalesce(new.reason, -1) <> coalesce(old.revocation_reason, -1)')
    .select('old.*');
  for (const row of changed) {
    const { serial_number, revoked_at, revoked_by } = row;
    await records.update(
      { authority: EMBEDDED, serialNumber: BigInt(serial_number) },
      revoked_at === null
        ? undefined
        : {
            reason: row.revocation_reason ?? 0,
            revokedAt: new Date(revoked_at),
          },
      revoked_by ?? undefined,
    );
  }
}

async function importHolds(database: Database): Promise<void> {
  const records = new CertificateRecords(database);
  const holds = await database(`${OLD_HOLDS} as old`)
    .join(`${RECORDS} as new`, 'new.serial_number', 'old.serial_number')
    .whereIn('new.authority', [EMBEDDED, FREEIPA])
    .whereNull('old.ended_at')
    .whereNull('new.hold_cause')
    .whereIn('new.state', ['valid', 'held'])
    .select('new.id', 'new.authority', 'new.serial_number')
    .select('old.cause', 'old.caused_at', 'old.is_confirmed');
  for (const { id, authority, serial_number, cause, ...hold } of holds) {
    const at = new Date(hold.caused_at);
    if (hold.is_confirmed) {
      const certificate = { authority, serialNumber: BigInt(serial_number) };
      await records.update(certificate, { reason: ON_HOLD, revokedAt: at });
    }
    await records.beginHold(id, { cause, at });
  }
}
