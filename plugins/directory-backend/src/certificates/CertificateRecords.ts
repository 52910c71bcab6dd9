import {
  Batch,
  type Database,
} from '@directory-gateway/backstage-plugin-directory-node';
import { orUnavailable } from './errors';

const TABLE = 'directory_certificates';
const HOLDS = 'directory_certificate_holds';

/** Time after which the records of expired certificates are deleted. */
const RETENTION_MS = 90 * 24 * 60 * 60_000;

/** Maximum number of serial numbers in a query. */
const MAX_SERIAL_NUMBERS = 500;

/** Maximum length of a label in characters. */
export const MAX_LABEL_LENGTH = 64;

/** A certificate that was issued through the gateway. */
export interface CertificateRecord {
  readonly serialNumber: bigint;
  /** Name of the user at the time of issuance. */
  readonly username: string;
  /**
   * ID of the account, as `Principal.stableId`; `undefined` when the service
   * account could not read it.
   */
  readonly subjectId: string | undefined;
  /** `undefined` for a certificate that was not recorded at issuance. */
  readonly profile: string | undefined;
  /** Text that the user chose to distinguish certificates. */
  readonly label: string | undefined;
  /** DER of the SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  readonly notAfter: Date;
  /**
   * Serial number of the certificate that this one renews. Default: the
   * certificate is not a renewal.
   */
  readonly renewedFrom?: bigint;
}

/** Fields of a record that responses contain. */
export type CertificateNotes = Partial<
  Pick<CertificateRecord, 'label' | 'profile'>
>;

/** A row of the table. */
interface Row {
  readonly serial_number: string;
  readonly username: string;
  readonly subject_id: string | null;
  readonly profile: string | null;
  readonly label: string | null;
  readonly public_key: Buffer;
  readonly not_after: Date | number;
  readonly recorded_at: Date | number;
  readonly renewed_from: string | null;
  readonly is_renewed_by_key: boolean | number;
  readonly is_revoked: boolean | number;
}

interface Account {
  readonly username: string;
  readonly stableId?: string;
}

/**
 * Records of the certificates that the gateway has issued with any CA: account,
 * profile and label.
 */
export class CertificateRecords {
  readonly #database: Database;
  readonly #insertions = new Batch((rows: readonly Row[]) =>
    this.#insert(rows),
  );
  readonly #counts = new Batch((accounts: readonly Account[]) =>
    this.#count(accounts),
  );

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Records a certificate. If a CA returns a certificate again, only a new
   * label is recorded. A record with another key, from a CA that was replaced,
   * is replaced.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async add(record: CertificateRecord): Promise<void> {
    const row: Row = {
      serial_number: String(record.serialNumber),
      username: record.username,
      subject_id: record.subjectId ?? null,
      profile: record.profile ?? null,
      label: record.label ?? null,
      public_key: record.publicKey,
      not_after: record.notAfter,
      recorded_at: new Date(),
      renewed_from: record.renewedFrom ? String(record.renewedFrom) : null,
      is_renewed_by_key: false,
      is_revoked: false,
    };
    await orUnavailable(async () => {
      if (await this.#insertions.add(row)) {
        return;
      }
      const { serial_number, public_key, label } = row;
      const known = await this.#database(TABLE)
        .where({ serial_number, public_key })
        .update(label === null ? { serial_number } : { label });
      if (known === 0) {
        await this.#database(TABLE)
          .insert(row)
          .onConflict('serial_number')
          .merge();
      }
    });
  }

  /** Returns whether each row was inserted; other rows are already recorded. */
  async #insert(rows: readonly Row[]): Promise<boolean[]> {
    const inserted: readonly Pick<Row, 'serial_number'>[] =
      await this.#database(TABLE)
        .insert(rows.toSorted(bySerialNumber))
        .onConflict('serial_number')
        .ignore()
        .returning('serial_number');
    const numbers = new Set(inserted.map(row => row.serial_number));
    return rows.map(row => numbers.delete(row.serial_number));
  }

  /**
   * Returns the record of a certificate.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async get(serialNumber: bigint): Promise<CertificateRecord | undefined> {
    const row: Row | undefined = await orUnavailable(() =>
      this.#database(TABLE)
        .where({ serial_number: String(serialNumber) })
        .first(),
    );
    return row && recordOf(row);
  }

  /**
   * Returns the number of an account's certificates that have not expired,
   * including revoked ones.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async countUnexpired(account: Account): Promise<number> {
    return await orUnavailable(() => this.#counts.add(account));
  }

  async #count(accounts: readonly Account[]): Promise<number[]> {
    const subjectIds = accounts.flatMap(({ stableId }) => stableId ?? []);
    const usernames = accounts.flatMap(({ username, stableId }) =>
      stableId === undefined ? username : [],
    );
    const [bySubject, byUsername] = await Promise.all([
      this.#countBy('subject_id', subjectIds),
      this.#countBy('username', usernames),
    ]);
    return accounts.map(
      ({ username, stableId }) =>
        (stableId === undefined
          ? byUsername.get(username)
          : bySubject.get(stableId)) ?? 0,
    );
  }

  async #countBy(
    column: 'subject_id' | 'username',
    values: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    if (values.length === 0) {
      return new Map();
    }
    const rows: readonly { key: string; count: number | string }[] =
      await this.#database(TABLE)
        .where('not_after', '>', new Date())
        .whereIn(column, [...new Set(values)])
        .groupBy(column)
        .select({ key: column })
        .count({ count: '*' });
    return new Map(rows.map(({ key, count }) => [key, Number(count)]));
  }

  /**
   * Returns the serial numbers of the certificates that were renewed from one
   * by proof of its key. Only 0.2.0 recorded such renewals: this query and its
   * caller can be removed when the last of these certificates has expired.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async renewedByKeyOf(serialNumber: bigint): Promise<readonly bigint[]> {
    const serialNumbers: readonly string[] = await orUnavailable(() =>
      this.#database(TABLE)
        .where({ renewed_from: String(serialNumber), is_renewed_by_key: true })
        .pluck('serial_number'),
    );
    return serialNumbers.map(BigInt);
  }

  /**
   * Returns labels and profiles by serial number, without certificates that
   * have no record.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async notesOf(
    serialNumbers: readonly bigint[],
  ): Promise<ReadonlyMap<bigint, CertificateNotes>> {
    const notes = new Map<bigint, CertificateNotes>();
    for (let at = 0; at < serialNumbers.length; at += MAX_SERIAL_NUMBERS) {
      const slice = serialNumbers.slice(at, at + MAX_SERIAL_NUMBERS);
      const rows: Row[] = await orUnavailable(() =>
        this.#database(TABLE)
          .select('serial_number', 'label', 'profile')
          .whereIn('serial_number', slice.map(String)),
      );
      for (const { serial_number: serialNumber, label, profile } of rows) {
        notes.set(BigInt(serialNumber), {
          label: label ?? undefined,
          profile: profile ?? undefined,
        });
      }
    }
    return notes;
  }

  /**
   * Replaces the label; `undefined` removes it.
   *
   * @returns whether the certificate is on record
   * @throws AuthorityUnavailableError when the database is not available.
   */
  async setLabel(
    serialNumber: bigint,
    label: string | undefined,
  ): Promise<boolean> {
    const updated = await orUnavailable(() =>
      this.#database(TABLE)
        .where({ serial_number: String(serialNumber) })
        .update({ label: label ?? null }),
    );
    return updated > 0;
  }

  /** Deletes records of certificates that expired more than 90 days ago. */
  async deleteExpired(): Promise<void> {
    const expired = () =>
      this.#database(TABLE).where(
        'not_after',
        '<',
        new Date(Date.now() - RETENTION_MS),
      );
    await this.#database(HOLDS)
      .whereIn('serial_number', expired().select('serial_number'))
      .delete();
    await expired().delete();
  }
}

/** Converts a row to a record. */
function recordOf(row: Row): CertificateRecord {
  return {
    serialNumber: BigInt(row.serial_number),
    username: row.username,
    subjectId: row.subject_id ?? undefined,
    profile: row.profile ?? undefined,
    label: row.label ?? undefined,
    publicKey: row.public_key,
    notAfter: new Date(row.not_after),
    renewedFrom:
      row.renewed_from === null ? undefined : BigInt(row.renewed_from),
  };
}

/** Orders rows identically in all processes, which prevents deadlocks. */
function bySerialNumber(one: Row, other: Row): number {
  return one.serial_number < other.serial_number ? -1 : 1;
}
