import {
  Batch,
  type Database,
  type Revocation,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate, readPemBlocks } from '@directory-gateway/x509';
import { orUnavailable } from './orUnavailable';

/** Table of certificates; its migration describes the columns. */
export const RECORDS = 'directory_certificate_records';

/** Time after which the records of expired certificates are deleted. */
export const RETENTION_MS = 90 * 24 * 60 * 60_000;

/** Maximum length of a label in characters. */
export const MAX_LABEL_LENGTH = 64;

/** PostgreSQL returns a Date, SQLite milliseconds since 1970. */
export type Timestamp = Date | number;

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
  hold_cause: 'locked' | 'deleted' | null;
  hold_caused_at: Timestamp | null;
  hold_confirmed: boolean | number;
}

/** An account that owns certificates. */
export interface CertificateOwner {
  readonly username: string;
  /** ID of the account, as `Principal.stableId`. */
  readonly stableId?: string;
}

/** A certificate that was issued through the gateway. */
export interface CertificateRecord {
  readonly id: string;
  /** Registered name of the CA. */
  readonly authority: string;
  readonly serialNumber: bigint;
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

/**
 * Records of the certificates that the gateway has issued with any CA, in one
 * table.
 *
 * All methods reject with AuthorityUnavailableError when the database is not
 * available.
 */
export class CertificateRecords {
  readonly #database: Database;
  readonly #counts = new Batch((owners: readonly CertificateOwner[]) =>
    this.#count(owners),
  );

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the certificates with a serial number, one for each CA. */
  async find(serialNumber: bigint): Promise<readonly CertificateRecord[]> {
    const rows = await orUnavailable(() =>
      this.#issued().where({ serial_number: String(serialNumber) }),
    );
    return rows.map(recordOf);
  }

  /**
   * Returns the number of an account's certificates that have not expired,
   * including revoked ones.
   */
  async countUnexpired(owner: CertificateOwner): Promise<number> {
    return await orUnavailable(() => this.#counts.add(owner));
  }

  /**
   * Returns the serial numbers of the certificates that were renewed from one
   * by proof of its key. Only 0.2.0 recorded such renewals: this query and its
   * caller can be removed when the last of these certificates has expired.
   */
  async renewedByKeyOf(serialNumber: bigint): Promise<readonly bigint[]> {
    const rows = await orUnavailable(() =>
      this.#table()
        .where({ renewed_from: String(serialNumber), is_renewed_by_key: true })
        .select('serial_number'),
    );
    return rows.map(row => BigInt(row.serial_number!));
  }

  /** Replaces the label of a certificate; `undefined` removes it. */
  async setLabel(id: string, label: string | undefined): Promise<void> {
    await orUnavailable(() =>
      this.#table()
        .where({ id })
        .update({ label: label ?? null }),
    );
  }

  /** Returns all certificates of an account. */
  async listOf(owner: CertificateOwner): Promise<readonly CertificateRecord[]> {
    const rows = await orUnavailable(() =>
      this.#issued().where(this.#ownedBy([owner])),
    );
    return rows.map(recordOf);
  }

  /**
   * Returns the usable certificates of accounts in DER, by ID or else by user
   * name.
   *
   * @param options - `authorities`: registered names of the CAs
   */
  async listUsable(
    owners: readonly CertificateOwner[],
    options: { readonly authorities: readonly string[] },
  ): Promise<ReadonlyMap<string, readonly Buffer[]>> {
    const byOwner = new Map<string, Buffer[]>();
    const rows = await orUnavailable(() =>
      this.#usable(options.authorities)
        .where(this.#ownedBy(owners))
        .whereNotNull('certificate')
        .orderBy(['reserved_at', 'serial_number'])
        .select('username', 'subject_id', 'certificate'),
    );
    for (const { username, subject_id, certificate } of rows) {
      const key = subject_id ?? username!;
      byOwner.set(key, [...(byOwner.get(key) ?? []), certificate!]);
    }
    return byOwner;
  }

  /**
   * Returns the accounts that have usable certificates, or some that are on
   * hold: their IDs, or else their user names.
   *
   * @param options - `recordedSince`: only of certificates recorded since then
   */
  async listOwners(options: {
    readonly authorities: readonly string[];
    readonly recordedSince?: Date;
  }): Promise<readonly string[]> {
    const { authorities, recordedSince } = options;
    const owned = this.#usable(authorities, ['valid', 'held']);
    if (recordedSince) {
      owned.where('recorded_at', '>=', recordedSince);
    }
    const rows = await orUnavailable(() =>
      owned.distinct('username', 'subject_id'),
    );
    return rows.map(({ username, subject_id }) => subject_id ?? username!);
  }

  /**
   * Returns the certificates that expire within an interval and are neither
   * revoked nor on hold.
   *
   * @param interval - `from`: inclusive; `before`: exclusive
   */
  async listExpiring(interval: {
    readonly from: Date;
    readonly before: Date;
  }): Promise<readonly CertificateRecord[]> {
    const rows = await orUnavailable(() =>
      this.#table()
        .where({ state: 'valid' })
        .where('not_after', '>=', interval.from)
        .where('not_after', '<', interval.before),
    );
    return rows.map(recordOf);
  }

  /** Deletes records of certificates that expired more than 90 days ago. */
  async deleteExpired(): Promise<void> {
    await this.#table()
      .where('not_after', '<', new Date(Date.now() - RETENTION_MS))
      .delete();
  }

  async #count(owners: readonly CertificateOwner[]): Promise<number[]> {
    const rows: readonly { key: string; count: number | string }[] =
      await this.#issued()
        .where(this.#ownedBy(owners))
        .where('not_after', '>', new Date())
        .groupByRaw('coalesce(subject_id, username)')
        .select({ key: this.#database.raw('coalesce(subject_id, username)') })
        .count({ count: '*' });
    const counts = new Map(rows.map(row => [row.key, Number(row.count)]));
    return owners.map(owner =>
      keysOf(owner).reduce((sum, key) => sum + (counts.get(key) ?? 0), 0),
    );
  }

  /**
   * Selects the rows of accounts. Binds all values as one parameter: with one
   * parameter each, every number of accounts would need another statement,
   * which is slow to prepare.
   */
  #ownedBy(owners: readonly CertificateOwner[]) {
    const isPostgres = this.#database.client.config.client === 'pg';
    const among = (column: string, values: readonly string[]) =>
      isPostgres
        ? this.#database.raw(`${column} = any(?)`, [[...values]])
        : this.#database.raw(
            `${column} in (select value from json_each(?))`,
            JSON.stringify(values),
          );
    const ids = owners.flatMap(({ stableId }) => stableId ?? []);
    const names = owners.map(({ username }) => username);
    return (query: ReturnType<Database>) =>
      void query
        .where(among('subject_id', ids))
        .orWhere(byName =>
          byName.whereNull('subject_id').where(among('username', names)),
        );
  }

  #usable(
    authorities: readonly string[],
    states: readonly CertificateRow['state'][] = ['valid'],
  ) {
    return this.#table()
      .whereIn('state', states)
      .where('not_after', '>=', new Date())
      .whereIn('authority', authorities);
  }

  #issued() {
    return this.#table().whereNotNull('recorded_at');
  }

  #table() {
    return this.#database<CertificateRow>(RECORDS);
  }
}

/**
 * Returns the keys under which certificates of an account are listed: without an
 * ID in the record, a certificate belongs to the user name.
 */
export function keysOf({ username, stableId }: CertificateOwner): string[] {
  return stableId === undefined ? [username] : [stableId, username];
}

/** Columns of a certificate on record that the gateway reads. */
type IssuedRow = Omit<
  CertificateRow,
  | 'issuer'
  | 'revoked_by'
  | 'requested_by'
  | 'request_key'
  | 'is_renewed_by_key'
  | `hold_${string}`
>;

/** Returns the record of a row. */
export function recordOf(row: IssuedRow): CertificateRecord {
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
    revocation: revocationOf(row),
    // 0.2.0 recorded certificates of FreeIPA when they were issued.
    notBefore: new Date((row.not_before ?? row.recorded_at)!),
    notAfter: new Date(row.not_after!),
    renewedFrom:
      row.renewed_from === null ? undefined : BigInt(row.renewed_from),
  };
}

/** Returns the state of a certificate that is revoked or on hold. */
function revocationOf({
  state,
  reason,
  revoked_at: revokedAt,
}: Pick<CertificateRow, 'state' | 'reason' | 'revoked_at'>):
  Revocation | undefined {
  return state === 'valid'
    ? undefined
    : {
        reason: reason ?? 0,
        revokedAt: revokedAt === null ? undefined : new Date(revokedAt),
      };
}
