import {
  AuthorityUnavailableError,
  Batch,
  type Database,
  type SignedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type CertificateDescription,
  randomSerialNumber,
  writePem,
} from '@directory-gateway/x509';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CertificateKey,
  type CertificateOwner,
  type CertificateRecord,
  type CertificateRow,
  keyHashOf,
  orUnavailable,
  recordOf,
  RECORDS,
  recordsIn,
  type Timestamp,
} from './certificateRows';

/**
 * Time within which a repeated request returns the certificate of the first
 * one.
 */
const REPETITION_MS = 60_000;

/**
 * Maximum number of attempts to reserve a serial number: one fails only when a
 * concurrent request is the same, or when a random number is already in use.
 */
const MAX_ATTEMPTS = 10;

/** Time for which a request waits for the same request to be signed. */
const PENDING_MS = 10_000;

/** Polling interval for a request that is being signed, in milliseconds. */
const PENDING_INTERVAL_MS = 100;

/**
 * Age in milliseconds at which an attempt is of a process that crashed. Longer
 * than a CA that chooses serial numbers takes to respond.
 */
const RUNNING_MS = 2 * 60_000;

/**
 * Time for which an attempt with an unknown outcome is kept. Longer than the
 * time for which clients repeat a request.
 */
const LOST_MS = 60 * 60_000;

/** States in which a serial number may have been used, but is not on record. */
const UNRECORDED: readonly CertificateRow['state'][] = [
  'reserved',
  'abandoned',
];

/** Columns that are known when a certificate is recorded. */
const CERTIFICATE_COLUMNS = [
  'serial_number',
  'issuer',
  'certificate',
  'chain',
  'public_key_sha256',
  'state',
  'recorded_at',
  'not_before',
  'not_after',
] as const;

/** A request for which a serial number is reserved. */
export interface ReservationRequest {
  /** Registered name of the CA. */
  readonly authority: string;
  /** Whether the CA ignores reserved serial numbers. */
  readonly choosesSerialNumbers: boolean;
  readonly owner: CertificateOwner;
  readonly profile: string;
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly publicKeySha256: string;
  readonly label?: string;
  readonly requestedBy: string;
  /** Value that a request and its repetitions share: SHA-256 as hex. */
  readonly requestKey: string;
  /** Maximum validity, in milliseconds, if the CA knows it. */
  readonly validityMs?: number;
  readonly renewedFrom?: bigint;
}

/** Columns of a reservation. The fewer columns, the faster is an insert. */
type ReservedRow = ReturnType<typeof reservationOf>;

/** A reserved serial number, or the place of one that the CA will choose. */
export interface Reservation {
  /** The CA may ignore it. */
  readonly serialNumber: bigint;
  readonly row: ReservedRow;
  /**
   * Time of an earlier attempt whose outcome is not known, with a CA that
   * chooses serial numbers. Default: none.
   */
  readonly attemptedAt?: Date;
}

/** Columns of an attempt that was not repeated. */
type LostAttempt = Pick<
  CertificateRow,
  'id' | 'username' | 'profile' | 'public_key_sha256'
>;

/** A certificate that was signed but not recorded. */
type UnrecordedCertificate = CertificateKey & Pick<CertificateRow, 'id'>;

/**
 * Serial numbers that are reserved before a CA signs, and the step to a recorded
 * certificate. Each statement is its own transaction: a process that is killed
 * between two of them leaves a reservation, which is revoked later. Concurrent
 * requests share a statement and therefore the write to disk.
 *
 * All methods reject with AuthorityUnavailableError when the database is not
 * available.
 */
export class Reservations {
  readonly #database: Database;
  readonly #listeners = new Array<(owner: CertificateOwner) => void>();
  readonly #reservations = new Batch((rows: readonly ReservedRow[]) =>
    this.#insert(rows),
  );
  readonly #records = new Batch((rows: readonly RecordedRow[]) =>
    this.#complete(rows),
  );

  constructor(database: Database) {
    this.#database = database;
  }

  /** Calls a function after this process has recorded a certificate. */
  onRecorded(listener: (owner: CertificateOwner) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Reserves a random serial number, or returns the certificate of the recent
   * request that this one repeats, if it is still valid. With a CA that chooses
   * serial numbers, it continues an attempt whose outcome is not known.
   */
  async reserve(
    request: ReservationRequest,
  ): Promise<Reservation | CertificateRecord> {
    return await orUnavailable(async () => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const serialNumber = randomSerialNumber();
        const row = reservationOf(request, serialNumber);
        if (await this.#reservations.add(row)) {
          return { serialNumber, row };
        }
        const previous = await this.#completed(row.request_key);
        if (!previous) {
          continue;
        }
        if (isRecent(previous)) {
          return recordOf(previous);
        }
        const { id } = previous;
        if (!isLost(previous)) {
          await this.#table().where({ id }).update({ request_key: null });
        } else if (await this.#claim(previous, row.reserved_at)) {
          const attemptedAt = firstAttemptOf(previous);
          return { serialNumber, row: { ...row, id }, attemptedAt };
        }
      }
      throw new Error('No serial number could be reserved');
    });
  }

  /**
   * Continues an earlier attempt, unless a concurrent repetition does.
   *
   * @returns whether this process continues it
   * @throws AuthorityUnavailableError while its process may still be running.
   */
  async #claim(previous: CertificateRow, now: Timestamp): Promise<boolean> {
    const { id, state, reserved_at } = previous;
    if (state === 'reserved' && ageOf(previous) < RUNNING_MS) {
      throw new AuthorityUnavailableError('The same request is pending');
    }
    const claimed = await this.#table()
      .where({ id, state, reserved_at })
      .update({
        state: 'reserved',
        reserved_at: now,
        not_before: firstAttemptOf(previous),
      });
    return claimed > 0;
  }

  /** Returns the row of the same request, after it was signed or has failed. */
  async #completed(requestKey: string): Promise<CertificateRow | undefined> {
    for (;;) {
      const row: CertificateRow | undefined = await this.#table()
        .where({ request_key: requestKey })
        .first();
      if (row?.state !== 'reserved' || ageOf(row) >= PENDING_MS) {
        return row;
      }
      await sleep(PENDING_INTERVAL_MS);
    }
  }

  /**
   * Records the certificate of a reservation. If a CA that chooses serial
   * numbers returns a certificate again, only a new label is recorded.
   *
   * @throws AuthorityUnavailableError also when the reservation has ended.
   */
  async record(
    { row }: Pick<Reservation, 'row'>,
    signed: SignedCertificate,
    description: CertificateDescription,
  ): Promise<CertificateRecord> {
    const { id, authority, reserved_at, username } = row;
    const [, ...issuers] = signed.chain;
    const recorded = {
      id,
      authority,
      reserved_at,
      serial_number: String(description.serialNumber),
      issuer: issuers.length > 0 ? keyHashOf(issuers[0]) : null,
      certificate: signed.certificate.der,
      chain: issuers.map(each => writePem('CERTIFICATE', each)).join(''),
      public_key_sha256: description.publicKey.sha256,
      state: 'valid' as const,
      recorded_at: new Date(),
      not_before: new Date(description.notBefore),
      not_after: new Date(description.notAfter),
    };
    const isRecorded = await orUnavailable(() =>
      row.serial_number === null
        ? this.#recordChosen(recorded, row.label)
        : this.#records.add(recorded),
    );
    if (!isRecorded) {
      throw new AuthorityUnavailableError('The reservation has ended');
    }
    for (const listener of this.#listeners) {
      listener({ username, stableId: row.subject_id ?? undefined });
    }
    return {
      ...recordOf({ ...row, ...recorded, reason: null, revoked_at: null }),
      // Its description is already parsed.
      certificate: signed.certificate,
    };
  }

  /** Deletes a reservation: nothing was signed. */
  async release({ row: { id } }: Pick<Reservation, 'row'>): Promise<void> {
    await orUnavailable(() =>
      this.#table().where({ id }).whereIn('state', UNRECORDED).delete(),
    );
  }

  /** Marks a reservation whose certificate is neither known nor revoked. */
  async abandon(id: string): Promise<void> {
    await orUnavailable(() =>
      this.#table()
        .where({ id, state: 'reserved' })
        .update({ state: 'abandoned' }),
    );
  }

  /** Returns the reserved serial numbers that were neither used nor revoked. */
  async listReserved(options: {
    readonly before: Date;
  }): Promise<readonly UnrecordedCertificate[]> {
    const rows = await orUnavailable(() =>
      this.#table()
        .where({ state: 'reserved' })
        .whereNotNull('serial_number')
        .where('reserved_at', '<', options.before)
        .select('id', 'authority', 'serial_number'),
    );
    return rows.map(({ id, authority, serial_number }) => ({
      id,
      authority,
      serialNumber: BigInt(serial_number!),
    }));
  }

  /**
   * Returns the serial numbers of all certificates of the key of a reservation.
   *
   * @throws AuthorityUnavailableError also while another request for the key is
   *   being signed, or its outcome is not known. Its time does not matter: an
   *   earlier reservation may be committed later.
   */
  async listOfKey({ row }: Reservation): Promise<ReadonlySet<bigint>> {
    const { authority, id, public_key_sha256 } = row;
    const rows = await orUnavailable(() =>
      this.#table()
        .where({ authority, public_key_sha256 })
        .select('id', 'serial_number', 'state'),
    );
    if (rows.some(each => each.id !== id && isLost(each))) {
      throw new AuthorityUnavailableError(
        'Another request for the same key is pending',
      );
    }
    return new Set(
      rows.flatMap(each =>
        each.serial_number === null ? [] : [BigInt(each.serial_number)],
      ),
    );
  }

  /**
   * Reserves the serial number that a CA has chosen for a certificate that must
   * be revoked, so that {@link Reservations.listReserved} returns it.
   *
   * @returns whether it was reserved: another certificate may have it
   */
  async reserveChosen(
    { row }: Pick<Reservation, 'row'>,
    { serialNumber, notAfter }: CertificateDescription,
  ): Promise<boolean> {
    const inserted = await orUnavailable(() =>
      this.#table()
        .insert({
          ...row,
          id: randomUUID(),
          serial_number: String(serialNumber),
          not_after: new Date(notAfter),
          request_key: null,
        })
        .onConflict()
        .ignore()
        .returning('id'),
    );
    return inserted.length > 0;
  }

  /**
   * Deletes attempts that are not repeated any more.
   *
   * @returns what they requested: there may be certificates
   */
  async deleteLost(): Promise<readonly LostAttempt[]> {
    const now = Date.now();
    return await orUnavailable(async () => {
      const lost = await this.#table()
        .whereIn('state', UNRECORDED)
        .whereNull('serial_number')
        .where('reserved_at', '<', new Date(now - RUNNING_MS))
        .whereRaw('coalesce(not_before, reserved_at) < ?', [
          new Date(now - LOST_MS),
        ]);
      const deleted = new Array<LostAttempt>();
      for (const row of lost) {
        const { id, reserved_at } = row;
        // Unless it is continued now.
        if (await this.#table().where({ id, reserved_at }).delete()) {
          deleted.push(row);
        }
      }
      return deleted;
    });
  }

  /** Returns for each row whether it was inserted or is in conflict. */
  async #insert(rows: readonly ReservedRow[]): Promise<boolean[]> {
    // All processes insert in the same order, which prevents deadlocks.
    const inserted = await this.#table()
      .insert(rows.toSorted((a, b) => (a.request_key < b.request_key ? -1 : 1)))
      .onConflict()
      .ignore()
      .returning('id');
    const ids = new Set(inserted.map(({ id }) => id));
    return rows.map(({ id }) => ids.has(id));
  }

  /** Returns for each reservation whether its certificate was recorded. */
  async #complete(rows: readonly RecordedRow[]): Promise<boolean[]> {
    const recorded = await this.#table()
      .insert(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
      .onConflict('id')
      .merge([...CERTIFICATE_COLUMNS])
      .whereRaw(`${RECORDS}.state = 'reserved'`)
      .returning('id');
    const ids = new Set(recorded.map(({ id }) => id));
    return rows.map(({ id }) => ids.has(id));
  }

  /**
   * Records a certificate whose serial number the CA has chosen. A record of
   * another key, from a CA that was replaced, is replaced.
   *
   * @returns whether the certificate is on record
   */
  async #recordChosen(
    row: RecordedRow,
    label: string | null,
  ): Promise<boolean> {
    const { authority, id, public_key_sha256, serial_number } = row;
    return await this.#database.transaction(async transaction => {
      const same = () =>
        recordsIn(transaction).where({ authority, serial_number });
      const reservation = () =>
        recordsIn(transaction).where({ id }).whereIn('state', UNRECORDED);
      const known = await same().first();
      if (known?.public_key_sha256 === public_key_sha256) {
        await reservation().delete();
        await same().update({ label: label ?? known.label });
        return true;
      }
      if (!(await reservation().first())) {
        return false;
      }
      await same().delete();
      const recorded = await reservation().update({ ...row, label });
      return recorded > 0;
    });
  }

  #table() {
    return recordsIn(this.#database);
  }
}

function reservationOf(request: ReservationRequest, serialNumber: bigint) {
  const { owner, validityMs, renewedFrom } = request;
  const now = Date.now();
  return {
    id: randomUUID() as string,
    authority: request.authority,
    serial_number: request.choosesSerialNumbers ? null : String(serialNumber),
    username: owner.username,
    subject_id: owner.stableId ?? null,
    profile: request.profile,
    public_key_sha256: request.publicKeySha256,
    label: request.label ?? null,
    state: 'reserved' as const,
    requested_by: request.requestedBy,
    request_key: request.requestKey,
    reserved_at: new Date(now) as Timestamp,
    not_after: validityMs === undefined ? null : new Date(now + validityMs),
    renewed_from: renewedFrom === undefined ? null : String(renewedFrom),
  };
}

/** Columns with which the certificate of a reservation is recorded. */
type RecordedRow = Pick<
  CertificateRow,
  'authority' | 'id' | 'reserved_at' | (typeof CERTIFICATE_COLUMNS)[number]
>;

/**
 * Times in the future count as recent: the clock of the writer may have been
 * wrong.
 */
function isRecent(row: CertificateRow): boolean {
  return row.state === 'valid' && Math.abs(ageOf(row)) <= REPETITION_MS;
}

/**
 * Returns whether an attempt may result in a certificate, or has: its CA chooses
 * the serial number.
 */
function isLost(row: Pick<CertificateRow, 'serial_number' | 'state'>): boolean {
  return row.serial_number === null && UNRECORDED.includes(row.state);
}

/** Returns the time of the first attempt that may result in a certificate. */
function firstAttemptOf({ not_before, reserved_at }: CertificateRow): Date {
  return new Date(not_before ?? reserved_at);
}

/** Returns the time since a reservation, in milliseconds. */
function ageOf({ reserved_at }: Pick<CertificateRow, 'reserved_at'>): number {
  return Date.now() - new Date(reserved_at).getTime();
}
