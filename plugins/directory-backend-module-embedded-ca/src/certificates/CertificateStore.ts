import { randomSerialNumber } from '@directory-gateway/x509';
import type { Knex } from 'knex';
import {
  AUTHORITIES,
  CERTIFICATES,
  type AuthorityRow,
  type CertificateRow,
} from '../database/rows';
import {
  readIssuedRecord,
  readRecord,
  type CertificateRecord,
  type IssuedRecord,
} from './CertificateRecord';

/** How long a repeated request gets the certificate of the first. */
const REPETITION_MS = 60 * 1000;

/** Serial numbers of 127 random bits collide in no lifetime. */
const SERIAL_NUMBER_ATTEMPTS = 5;

/** What {@link CertificateStore.reserve} puts on record. */
export interface Reservation {
  readonly authorityId: string;
  /** What it has in common with its repetitions. */
  readonly requestKey: string;
  readonly username: string;
  readonly profile: string;
  readonly requestedBy: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * The record of certificates. Every statement stands alone: a process that is
 * killed between two of them leaves a reserved serial number, which the
 * repetition of the request takes over.
 */
export class CertificateStore {
  readonly #database: Knex;

  constructor(database: Knex) {
    this.#database = database;
  }

  /**
   * Reserves a new serial number; for the repetition of a recent request whose
   * certificate is not revoked, gives what is on record for that.
   */
  async reserve(reservation: Reservation): Promise<CertificateRecord> {
    const { requestKey, now } = reservation;
    await this.#table()
      .where({ request_key: requestKey })
      .andWhere(old =>
        old
          .whereNotNull('revoked_at')
          // Both ways: the clock that wrote it may have been wrong.
          .orWhereNotBetween('reserved_at', [
            new Date(now - REPETITION_MS),
            new Date(now + REPETITION_MS),
          ]),
      )
      .update({ request_key: null });
    for (let attempt = 0; attempt < SERIAL_NUMBER_ATTEMPTS; attempt++) {
      await this.#table()
        .insert(toRow(reservation, randomSerialNumber()))
        .onConflict()
        .ignore();
      const row = await this.#table()
        .where({ request_key: requestKey })
        .first();
      if (row) {
        return readRecord(row);
      }
    }
    throw new Error('No serial number could be reserved');
  }

  /** Gives a serial number up that nobody's certificate has. */
  async release(serialNumber: bigint): Promise<void> {
    await this.#table()
      .where({ serial_number: String(serialNumber) })
      .whereNull('certificate')
      .delete();
  }

  /**
   * Records the certificate of a reserved serial number.
   *
   * @returns what is on record: of two for one reservation, the first
   */
  async record(serialNumber: bigint, certificate: Buffer): Promise<Buffer> {
    const here = { serial_number: String(serialNumber) };
    const updated = await this.#table()
      .where(here)
      .whereNull('certificate')
      .update({ certificate });
    if (updated === 1) {
      return certificate;
    }
    const row = await this.#table().where(here).first();
    if (!row?.certificate) {
      throw new Error('The reserved serial number is not on record any more');
    }
    return row.certificate;
  }

  async find(serialNumber: bigint): Promise<IssuedRecord | undefined> {
    const [row] = await this.#issued().where(
      `${CERTIFICATES}.serial_number`,
      String(serialNumber),
    );
    return row && readIssuedRecord(row);
  }

  /** The certificates of a user that can be used at a time, oldest first. */
  async listUsable(username: string, at: Date): Promise<IssuedRecord[]> {
    const rows = await this.#issued()
      .where({ username })
      .whereNull('revoked_at')
      .andWhere('not_after', '>=', at)
      .orderBy(['reserved_at', 'serial_number']);
    return rows.flatMap(row => readIssuedRecord(row) ?? []);
  }

  /** With the chain of the authority that signed each. */
  #issued() {
    return this.#table()
      .join<AuthorityRow>(
        AUTHORITIES,
        `${CERTIFICATES}.authority_id`,
        `${AUTHORITIES}.id`,
      )
      .whereNotNull('certificate')
      .select<(CertificateRow & Pick<AuthorityRow, 'chain'>)[]>(
        `${CERTIFICATES}.*`,
        `${AUTHORITIES}.chain`,
      );
  }

  #table(): Knex.QueryBuilder<CertificateRow> {
    return this.#database<CertificateRow>(CERTIFICATES);
  }
}

function toRow(
  reservation: Reservation,
  serialNumber: bigint,
): Partial<CertificateRow> {
  return {
    serial_number: String(serialNumber),
    authority_id: reservation.authorityId,
    username: reservation.username,
    profile: reservation.profile,
    requested_by: reservation.requestedBy,
    request_key: reservation.requestKey,
    reserved_at: new Date(reservation.now),
    not_before: reservation.notBefore,
    not_after: reservation.notAfter,
  };
}
