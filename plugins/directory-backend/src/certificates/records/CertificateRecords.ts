import {
  AuthorityUnavailableError,
  Batch,
  type Database,
  type Revocation,
  type SignedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  type CertificateDescription,
  randomSerialNumber,
  readPemBlocks,
  writePem,
} from '@directory-gateway/x509';
import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { orUnavailable } from './orUnavailable';
import type { CertificateKey } from './RevocationTable';

/** Table of certificates; its migration describes the columns. */
export const RECORDS = 'directory_certificate_records';

/** Time after which the records of expired certificates are deleted. */
export const RETENTION_MS = 90 * 24 * 60 * 60_000;

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

/** Milliseconds between looks at a request that is being signed. */
const PENDING_INTERVAL_MS = 100;

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

/** Maximum length of a label in characters. */
export const MAX_LABEL_LENGTH = 64;

/** Columns that are known when a certificate is recorded. */
const CERTIFICATE_COLUMNS: (keyof CertificateRow)[] = [
  'serial_number',
  'issuer',
  'certificate',
  'chain',
  'public_key_sha256',
  'state',
  'recorded_at',
  'not_before',
  'not_after',
];

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

/** A certificate that was signed but not recorded. */
export type UnrecordedCertificate = CertificateKey & Pick<CertificateRow, 'id'>;

/**
 * Records of the certificates that the gateway has issued with any CA, in one
 * table. Each statement is its own transaction: a process that is killed
 * between two of them leaves a reservation, which is revoked later. Concurrent
 * requests share a statement and therefore the write to disk.
 *
 * All methods reject with AuthorityUnavailableError when the database is not
 * available.
 */
export class CertificateRecords {
  readonly #database: Database;
  readonly #listeners = new Array<(owner: CertificateOwner) => void>();
  readonly #reservations = new Batch((rows: readonly ReservedRow[]) =>
    this.#insert(rows),
  );
  readonly #records = new Batch((rows: readonly RecordedRow[]) =>
    this.#complete(rows),
  );
  readonly #counts = new Batch((owners: readonly CertificateOwner[]) =>
    this.#count(owners),
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
        if (previous && isRecent(previous)) {
          return recordOf(previous);
        }
        if (previous && isLost(previous)) {
          const { id, reserved_at } = previous;
          const attemptedAt = new Date(reserved_at);
          return {
            serialNumber,
            row: { ...row, id, reserved_at },
            attemptedAt,
          };
        }
        if (previous) {
          await this.#table()
            .where({ id: previous.id })
            .update({ request_key: null });
        }
      }
      throw new Error('No serial number could be reserved');
    });
  }

  /** Returns the row of the same request, after it was signed or has failed. */
  async #completed(requestKey: string): Promise<CertificateRow | undefined> {
    for (;;) {
      const row: CertificateRow | undefined = await this.#table()
        .where({ request_key: requestKey })
        .first();
      if (
        row?.state !== 'reserved' ||
        Date.now() - new Date(row.reserved_at).getTime() >= PENDING_MS
      ) {
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
    const recorded: RecordedRow = {
      id,
      authority,
      reserved_at,
      ...rowOf(signed, description),
      state: 'valid',
      recorded_at: new Date(),
    };
    const isRecorded = await orUnavailable(() =>
      row.serial_number === null
        ? this.#recordChosen(recorded, row.label)
        : this.#records.add(recorded),
    );
    if (!isRecorded) {
      throw new AuthorityUnavailableError('The reservation has ended');
    }
    const stableId = row.subject_id ?? undefined;
    for (const listener of this.#listeners) {
      listener({ username, stableId });
    }
    const { certificate, chain } = signed;
    return {
      ...recordOf({ ...NOT_REVOKED, ...row, ...recorded, chain: null }),
      certificate,
      issuers: chain.slice(1),
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
        .where('reserved_at', '<', options.before),
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
   * @throws AuthorityUnavailableError also while an earlier request for another
   *   certificate of the key is being signed, or its outcome is not known.
   */
  async listOfKey({ row }: Reservation): Promise<ReadonlySet<bigint>> {
    const { authority, id, public_key_sha256, reserved_at } = row;
    const rows = await orUnavailable(() =>
      this.#table()
        .where({ authority, public_key_sha256 })
        .select('id', 'reserved_at', 'serial_number', 'state'),
    );
    const orderOf = (each: Pick<CertificateRow, 'id' | 'reserved_at'>) =>
      `${new Date(each.reserved_at).toISOString()} ${each.id}`;
    const isPending = rows.some(
      each => isLost(each) && orderOf(each) < orderOf({ id, reserved_at }),
    );
    if (isPending) {
      throw new AuthorityUnavailableError(
        'An earlier request for the same key is pending',
      );
    }
    return new Set(
      rows.flatMap(each =>
        each.serial_number === null ? [] : [BigInt(each.serial_number)],
      ),
    );
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

  /**
   * Deletes records of certificates that expired more than 90 days ago, and of
   * attempts that are not repeated any more.
   */
  async deleteExpired(): Promise<void> {
    const now = Date.now();
    await this.#table()
      .where('not_after', '<', new Date(now - RETENTION_MS))
      .delete();
    await this.#table()
      .whereIn('state', UNRECORDED)
      .whereNull('serial_number')
      .where('reserved_at', '<', new Date(now - LOST_MS))
      .delete();
  }

  /** Returns for each row whether it was inserted or is in conflict. */
  async #insert(rows: readonly ReservedRow[]): Promise<boolean[]> {
    // All processes insert in the same order, which prevents deadlocks.
    const inserted = await this.#table()
      .insert(rows.toSorted(inOrderOf('request_key')))
      .onConflict()
      .ignore()
      .returning('id');
    const ids = new Set(inserted.map(({ id }) => id));
    return rows.map(({ id }) => ids.has(id));
  }

  /** Returns for each reservation whether its certificate was recorded. */
  async #complete(rows: readonly RecordedRow[]): Promise<boolean[]> {
    const recorded = await this.#table()
      .insert(rows.toSorted(inOrderOf('id')))
      .onConflict('id')
      .merge(CERTIFICATE_COLUMNS)
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
      const table = () => transaction<CertificateRow>(RECORDS);
      const same = () => table().where({ authority, serial_number });
      const reservation = () =>
        table().where({ id }).whereIn('state', UNRECORDED);
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

/** State of a new certificate. */
const NOT_REVOKED = { reason: null, revoked_at: null };

/** Columns with which the certificate of a reservation is recorded. */
type RecordedRow = Pick<CertificateRow, 'id' | 'authority' | 'reserved_at'> &
  ReturnType<typeof rowOf> & { state: 'valid'; recorded_at: Date };

/** Returns the columns of a certificate. */
function rowOf(
  { certificate, chain: [, ...issuers] }: SignedCertificate,
  { serialNumber, publicKey, notBefore, notAfter }: CertificateDescription,
) {
  return {
    serial_number: String(serialNumber),
    issuer: issuers.length > 0 ? issuerIdOf(issuers[0]) : null,
    certificate: certificate.der,
    chain: issuers.map(der => writePem('CERTIFICATE', der)).join(''),
    public_key_sha256: publicKey.sha256,
    not_before: new Date(notBefore),
    not_after: new Date(notAfter),
  };
}

/** IDs of issuers, by their certificates. */
const issuerIds = new WeakMap<Buffer, string>();

/** Returns the SHA-256 of an issuer's SubjectPublicKeyInfo, lower-case hex. */
function issuerIdOf(issuer: Buffer): string {
  let id = issuerIds.get(issuer);
  if (id === undefined) {
    const { publicKey } = new X509Certificate(issuer);
    id = createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('hex');
    issuerIds.set(issuer, id);
  }
  return id;
}

/**
 * Times in the future count as recent: the clock of the writer may have been
 * wrong.
 */
function isRecent({ state, reserved_at: reservedAt }: CertificateRow): boolean {
  const age = Date.now() - new Date(reservedAt).getTime();
  return state === 'valid' && Math.abs(age) <= REPETITION_MS;
}

/** Returns whether an attempt may have resulted in a certificate. */
function isLost(
  row: Pick<CertificateRow, 'reserved_at' | 'serial_number' | 'state'>,
): boolean {
  const age = Date.now() - new Date(row.reserved_at).getTime();
  return (
    row.serial_number === null &&
    UNRECORDED.includes(row.state) &&
    age < LOST_MS
  );
}

function recordOf(row: IssuedRow): CertificateRecord {
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

function inOrderOf<Column extends string>(column: Column) {
  return (
    one: Readonly<Record<Column, string>>,
    other: Readonly<Record<Column, string>>,
  ) => (one[column] < other[column] ? -1 : 1);
}
