import type { ExpiringQuery } from '@directory-gateway/backstage-plugin-directory-node';
import {
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
import { readChain } from '../authority/AuthorityStore';

/** How long a repeated request gets the certificate of the first. */
const REPETITION_MS = 60 * 1000;

/**
 * Each one fails only when another process was faster at the same request, or a
 * random number of 127 bits came up twice.
 */
const ATTEMPTS = 10;

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
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const row = toRow(reservation, randomSerialNumber());
      const inserted = await this.#table()
        .insert(row)
        .onConflict()
        .ignore()
        .returning('serial_number');
      if (inserted.length > 0) {
        return readRecord(row);
      }
      const before = await this.#table()
        .where({ request_key: reservation.requestKey })
        .first();
      if (before && isRecent(before, reservation.now)) {
        return readRecord(before);
      }
      if (before) {
        await this.#table()
          .where({ serial_number: before.serial_number })
          .update({ request_key: null });
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

  /**
   * The certificates of users, oldest first: all, or those that can be used at
   * a time.
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
    return rows.flatMap(row => readIssuedRecord(row) ?? []);
  }

  /** Those that are not revoked and end within a time. */
  async listExpiring(query: ExpiringQuery): Promise<CertificateRecord[]> {
    const { from, before, username } = query;
    const ending = this.#table()
      .whereNotNull('certificate')
      .whereNull('revoked_at')
      .where('not_after', '>=', from);
    if (before) {
      ending.where('not_after', '<', before);
    }
    if (username !== undefined) {
      ending.where({ username });
    }
    return (await ending).map(readRecord);
  }

  /**
   * Names as one parameter. With one for each, every number of names is a
   * statement of its own, which takes longer to prepare than to answer.
   */
  #isAmong(
    usernames: readonly string[],
  ): [sql: string, values: Knex.RawBinding[]] {
    return this.#database.client.config.client === 'pg'
      ? ['username = any(?)', [[...usernames]]]
      : [
          'username in (select value from json_each(?))',
          [JSON.stringify(usernames)],
        ];
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

function toRow(reservation: Reservation, serialNumber: bigint): CertificateRow {
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
    certificate: null,
    revoked_at: null,
    revocation_reason: null,
    revoked_by: null,
  };
}

/** Either way from now: the clock that wrote the time may have been wrong. */
function isRecent(row: CertificateRow, now: number): boolean {
  const age = now - new Date(row.reserved_at).getTime();
  return row.revoked_at === null && Math.abs(age) <= REPETITION_MS;
}

/** A serial number on record, and what became of it. */
export interface CertificateRecord {
  readonly serialNumber: bigint;
  readonly username: string;
  /** In whole seconds, as certificates have it. */
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** DER; `undefined` while it is reserved only. */
  readonly certificate?: Buffer;
  readonly revocation?: Revocation;
}

/** A certificate on record, with those of the authority that signed it. */
export interface IssuedRecord extends CertificateRecord {
  readonly certificate: Buffer;
  /** DER: the authority's certificate and those above it. */
  readonly authorityChain: readonly Buffer[];
}

/** That a certificate is no longer to be trusted. */
export interface Revocation {
  readonly revokedAt: Date;
  readonly reason: RevocationReason;
}

/** Reads a row of the certificates. */
export function readRecord(row: CertificateRow): CertificateRecord {
  return {
    serialNumber: BigInt(row.serial_number),
    username: row.username,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
    ...(row.certificate && { certificate: row.certificate }),
    ...(row.revoked_at !== null && {
      revocation: {
        revokedAt: new Date(row.revoked_at),
        reason: reasonOf(row.revocation_reason),
      },
    }),
  };
}

/** Reads a row of the certificates, joined with the chain of its authority. */
export function readIssuedRecord(
  row: CertificateRow & Pick<AuthorityRow, 'chain'>,
): IssuedRecord | undefined {
  return row.certificate
    ? {
        ...readRecord(row),
        certificate: row.certificate,
        authorityChain: readChain(row.chain),
      }
    : undefined;
}

function reasonOf(code: number | null): RevocationReason {
  const [reason] = Object.entries(REVOCATION_REASONS).find(
    entry => entry[1] === code,
  ) ?? ['unspecified'];
  return reason as RevocationReason;
}
