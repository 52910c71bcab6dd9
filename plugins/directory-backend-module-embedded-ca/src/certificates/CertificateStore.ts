import {
  Batch,
  type ExpiringQuery,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  REVOCATION_REASONS,
  type RevocationReason,
  randomSerialNumber,
} from '@directory-gateway/x509';
import type { Knex } from 'knex';

import {
  AUTHORITIES,
  type AuthorityRow,
  CERTIFICATES,
  type CertificateRow,
} from '../database/rows';
import { readChain } from '../issuers/IssuerStore';

/**
 * Time within which a repeated request gets the certificate of the first one.
 */
const REPETITION_MS = 60 * 1000;

/**
 * Maximum number of attempts. An attempt fails only when another process was
 * faster with the same request, or when a random 127-bit number is already in
 * use.
 */
const MAX_ATTEMPTS = 10;

/** Input of {@link CertificateStore.reserve}. */
export interface Reservation {
  readonly issuerId: string;
  /** Value that a request and its repetitions share. */
  readonly requestKey: string;
  readonly username: string;
  readonly profile: string;
  readonly requestedBy: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A reserved serial number and its certificate. */
export interface CertificateRecord {
  readonly serialNumber: bigint;
  readonly username: string;
  readonly profile: string;
  readonly requestedBy: string;
  /** In whole seconds. */
  readonly notBefore: Date;
  /** In whole seconds. */
  readonly notAfter: Date;
  /** `undefined`: the serial number is only reserved. */
  readonly certificate?: Certificate;
  readonly revocation?: Revocation;
}

/** The record of an issued certificate. */
export interface IssuedRecord extends CertificateRecord {
  readonly certificate: Certificate;
  /** The issuer's certificate and its issuers, DER. */
  readonly issuerChain: readonly Buffer[];
}

/** The revocation of a certificate, or its hold (`certificateHold`). */
export interface Revocation {
  readonly revokedAt: Date;
  readonly reason: RevocationReason;
}

/** A certificate to be recorded. */
interface Signed {
  readonly serialNumber: bigint;
  readonly certificate: Certificate;
}

/**
 * Records of certificates. Each statement is its own transaction: a process
 * that is killed between two of them leaves a reserved serial number, which the
 * repeated request takes over. Concurrent requests share a statement and
 * therefore the write to disk.
 */
export class CertificateStore {
  readonly #database: Knex;
  readonly #insertions = new Batch((rows: readonly CertificateRow[]) =>
    this.#insert(rows),
  );
  readonly #records = new Batch((signed: readonly Signed[]) =>
    this.#record(signed),
  );

  constructor(database: Knex) {
    this.#database = database;
  }

  /**
   * Reserves a new serial number, or returns the record of the recent request
   * that this one repeats, unless its certificate is revoked or on hold.
   */
  async reserve(reservation: Reservation): Promise<CertificateRecord> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const row = toRow(reservation, randomSerialNumber());
      if (await this.#insertions.add(row)) {
        return readRecord(row);
      }
      const previous = await this.#table()
        .where({ request_key: reservation.requestKey })
        .first();
      if (previous && isRecent(previous, reservation.now)) {
        return readRecord(previous);
      }
      if (previous) {
        await this.#table()
          .where({ serial_number: previous.serial_number })
          .update({ request_key: null });
      }
    }
    throw new Error('No serial number could be reserved');
  }

  /** Deletes a reservation that has no certificate. */
  async release(serialNumber: bigint): Promise<void> {
    await this.#table()
      .where({ serial_number: String(serialNumber) })
      .whereNull('certificate')
      .delete();
  }

  /**
   * Records the certificate of a reserved serial number.
   *
   * @returns the recorded certificate: a different one when a concurrent
   *   process was faster
   */
  async record(
    serialNumber: bigint,
    certificate: Certificate,
  ): Promise<Certificate> {
    if (await this.#records.add({ serialNumber, certificate })) {
      return certificate;
    }
    const row = await this.#table()
      .where({ serial_number: String(serialNumber) })
      .first();
    if (!row?.certificate) {
      throw new Error('The reserved serial number is no longer on record');
    }
    return new Certificate(row.certificate);
  }

  async find(serialNumber: bigint): Promise<IssuedRecord | undefined> {
    const [row] = await this.#issued().where(
      `${CERTIFICATES}.serial_number`,
      String(serialNumber),
    );
    return row && readIssuedRecord(row);
  }

  /**
   * Returns the certificates of users, oldest first.
   *
   * @param query - `usableAt`: omits certificates that are revoked, on hold, or
   *   expired before this time
   */
  async listByUsers(query: {
    readonly usernames: readonly string[];
    readonly usableAt?: Date;
  }): Promise<IssuedRecord[]> {
    const { usernames, usableAt } = query;
    const issued = this.#issued().whereRaw(...this.#isAmong(usernames));
    if (usableAt) {
      issued.whereNull('revoked_at').andWhere('not_after', '>=', usableAt);
    }
    const rows = await issued.orderBy(['reserved_at', 'serial_number']);
    return rows.map(readIssuedRecord);
  }

  async listExpiring(query: ExpiringQuery): Promise<CertificateRecord[]> {
    const { from, before, username } = query;
    const expiring = this.#table()
      .whereNotNull('certificate')
      .whereNull('revoked_at')
      .where('not_after', '>=', from);
    if (before) {
      expiring.where('not_after', '<', before);
    }
    if (username !== undefined) {
      expiring.where({ username });
    }
    return (await expiring).map(readRecord);
  }

  /** Returns for each row whether it was inserted or is in conflict. */
  async #insert(rows: readonly CertificateRow[]): Promise<boolean[]> {
    // All processes insert in the same order, which avoids deadlocks.
    const inserted = await this.#table()
      .insert(rows.toSorted(byRequestKey))
      .onConflict()
      .ignore()
      .returning('serial_number');
    const numbers = new Set(inserted.map(row => row.serial_number));
    return rows.map(row => numbers.has(row.serial_number));
  }

  /**
   * Returns for each certificate whether it was recorded: of several with the
   * same serial number, the first.
   */
  async #record(signed: readonly Signed[]): Promise<boolean[]> {
    const numbers = signed.map(({ serialNumber }) => String(serialNumber));
    const type = this.#isPostgres ? 'bytea' : 'blob';
    const certificate = this.#database.raw(
      `case serial_number${` when ? then cast(? as ${type})`.repeat(
        signed.length,
      )} end`,
      signed.flatMap((each, index) => [numbers[index], each.certificate.der]),
    );
    const updated = await this.#table()
      .whereIn('serial_number', numbers)
      .whereNull('certificate')
      .update({ certificate })
      .returning('serial_number');
    const recorded = new Set(updated.map(row => row.serial_number));
    return numbers.map(
      (number, index) =>
        recorded.has(number) && numbers.indexOf(number) === index,
    );
  }

  /**
   * Binds all names as one parameter: with one parameter per name, each number
   * of names would require a different statement, which is slow to prepare.
   */
  #isAmong(
    usernames: readonly string[],
  ): [sql: string, values: Knex.RawBinding[]] {
    return this.#isPostgres
      ? ['username = any(?)', [[...usernames]]]
      : [
          'username in (select value from json_each(?))',
          [JSON.stringify(usernames)],
        ];
  }

  /** Issued certificates, each with the chain of its issuer. */
  #issued() {
    return this.#table()
      .join<AuthorityRow>(
        AUTHORITIES,
        `${CERTIFICATES}.authority_id`,
        `${AUTHORITIES}.id`,
      )
      .whereNotNull('certificate')
      .select<IssuedRow[]>(`${CERTIFICATES}.*`, `${AUTHORITIES}.chain`);
  }

  get #isPostgres(): boolean {
    return this.#database.client.config.client === 'pg';
  }

  #table(): Knex.QueryBuilder<CertificateRow> {
    return this.#database<CertificateRow>(CERTIFICATES);
  }
}

type IssuedRow = CertificateRow &
  Pick<AuthorityRow, 'chain'> & { certificate: Buffer };

function toRow(reservation: Reservation, serialNumber: bigint): CertificateRow {
  return {
    serial_number: String(serialNumber),
    authority_id: reservation.issuerId,
    username: reservation.username,
    profile: reservation.profile,
    requested_by: reservation.requestedBy,
    request_key: reservation.requestKey,
    reserved_at: new Date(reservation.now),
    not_before: reservation.notBefore,
    not_after: reservation.notAfter,
    certificate: null,
    revoked_at: null,
    revocation_reason: null,
    revoked_by: null,
  };
}

function byRequestKey(one: CertificateRow, other: CertificateRow): number {
  return one.request_key! < other.request_key! ? -1 : 1;
}

/**
 * Times in the future count as recent: the clock of the writer may have been
 * wrong.
 */
function isRecent(row: CertificateRow, now: number): boolean {
  const age = now - new Date(row.reserved_at).getTime();
  return row.revoked_at === null && Math.abs(age) <= REPETITION_MS;
}

/** Reads a row of the table of certificates. */
export function readRecord(row: CertificateRow): CertificateRecord {
  return {
    serialNumber: BigInt(row.serial_number),
    username: row.username,
    profile: row.profile,
    requestedBy: row.requested_by,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
    ...(row.certificate && { certificate: new Certificate(row.certificate) }),
    ...(row.revoked_at !== null && {
      revocation: {
        revokedAt: new Date(row.revoked_at),
        reason: reasonOf(row.revocation_reason),
      },
    }),
  };
}

function readIssuedRecord(row: IssuedRow): IssuedRecord {
  return {
    ...readRecord(row),
    certificate: new Certificate(row.certificate),
    issuerChain: readChain(row.chain),
  };
}

/** Name of a recorded CRLReason. */
export function reasonOf(code: number | null): RevocationReason {
  const [reason] = Object.entries(REVOCATION_REASONS).find(
    entry => entry[1] === code,
  ) ?? ['unspecified'];
  return reason as RevocationReason;
}
