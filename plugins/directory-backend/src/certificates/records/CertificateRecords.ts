import type {
  Database,
  Revocation,
  RevocationRecords,
  RevokedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { randomUUID } from 'node:crypto';
import {
  type CertificateKey,
  type CertificateOwner,
  type CertificateRecord,
  type CertificateRow,
  columnsOfKey,
  type HoldCause,
  ON_HOLD,
  orUnavailable,
  recordOf,
  recordsIn,
} from './certificateRows';

/** Time after which the records of expired certificates are deleted. */
export const RETENTION_MS = 90 * 24 * 60 * 60_000;

/** Registered name of the embedded CA. */
export const EMBEDDED = 'embedded';

/** Table of the embedded CA of 0.2.0, and its columns for a revocation. */
export const EMBEDDED_CERTIFICATES = 'embedded_ca_certificates';

/** Table of the holds that 0.2.0 has placed. */
export const OLD_HOLDS = 'directory_certificate_holds';

/** Columns from which a revocation is read. */
const REVOCATION_COLUMNS = ['serial_number', 'reason', 'revoked_at'] as const;

type Records = ReturnType<typeof recordsIn>;

/** Why the gateway puts a certificate on hold, and since when. */
export interface AccountHold {
  readonly cause: HoldCause;
  readonly at: Date;
}

/** A certificate of a known account that is valid or on hold. */
export interface LiveCertificate extends CertificateKey {
  readonly id: string;
  /** Name of the user at the time of issuance. */
  readonly username: string;
  readonly stableId: string;
  /** Whether the CA has returned that it is on hold. */
  readonly isHeld: boolean;
  /** Set also before the CA places the hold. */
  readonly hold: AccountHold | undefined;
}

/**
 * Records of the certificates that the gateway has issued with any CA, and of
 * their revocations, in one table. A revocation is permanent: each change is one
 * conditional update, so that only one of several concurrent changes takes
 * effect. It also changes the tables of 0.2.0, so that a portal that goes back to
 * it publishes the same revocations.
 *
 * All methods reject with AuthorityUnavailableError when the database is not
 * available.
 */
export class CertificateRecords {
  readonly #database: Database;
  #hasEmbeddedTable: boolean | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the certificates with a serial number, one for each CA. */
  async find(serialNumber: bigint): Promise<readonly CertificateRecord[]> {
    const rows = await this.#query(records =>
      issued(records).where({ serial_number: String(serialNumber) }),
    );
    return rows.map(recordOf);
  }

  /** Returns all certificates of an account. */
  async listOf(owner: CertificateOwner): Promise<readonly CertificateRecord[]> {
    const rows = await this.#query(records =>
      issued(records).where(this.#ownedBy([owner])),
    );
    return rows.map(recordOf);
  }

  /**
   * Returns the number of an account's certificates that have not expired,
   * including revoked ones.
   */
  async countUnexpired(owner: CertificateOwner): Promise<number> {
    const [{ count }] = await this.#query(records =>
      issued(records)
        .where(this.#ownedBy([owner]))
        .where('not_after', '>', new Date())
        .count({ count: '*' }),
    );
    return Number(count);
  }

  /**
   * Returns the certificates of the same CA that were renewed from one by proof
   * of its key. Only 0.2.0 recorded such renewals: this query and its caller can
   * be removed when the last of these certificates has expired.
   */
  async renewedByKeyOf({
    authority,
    serialNumber,
  }: CertificateKey): Promise<readonly CertificateKey[]> {
    const rows = await this.#query(records =>
      records
        .where({ authority, is_renewed_by_key: true })
        .where({ renewed_from: String(serialNumber) })
        .select('serial_number'),
    );
    return rows.map(row => ({
      authority,
      serialNumber: BigInt(row.serial_number!),
    }));
  }

  /** Replaces the label of a certificate; `undefined` removes it. */
  async setLabel(id: string, label: string | undefined): Promise<void> {
    await this.#query(records =>
      records.where({ id }).update({ label: label ?? null }),
    );
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
    const rows = await this.#query(records =>
      unexpired(records, ['valid'])
        .whereIn('authority', options.authorities)
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
    readonly recordedSince: Date;
  }): Promise<readonly string[]> {
    const { authorities, recordedSince } = options;
    const rows = await this.#query(records =>
      unexpired(records, ['valid', 'held'])
        .whereIn('authority', authorities)
        .where('recorded_at', '>=', recordedSince)
        .distinct('username', 'subject_id'),
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
    const rows = await this.#query(records =>
      records
        .where({ state: 'valid' })
        .where('not_after', '>=', interval.from)
        .where('not_after', '<', interval.before),
    );
    return rows.map(recordOf);
  }

  /** Deletes records of certificates that expired more than 90 days ago. */
  async deleteExpired(): Promise<void> {
    const before = new Date(Date.now() - RETENTION_MS);
    await this.#query(records =>
      records.where('not_after', '<', before).delete(),
    );
  }

  /** Returns the IDs of the accounts whose certificates are valid or on hold. */
  async listLiveAccounts(): Promise<readonly string[]> {
    const rows = await this.#query(records =>
      unexpired(records, ['valid', 'held'])
        .whereNotNull('subject_id')
        .distinct('subject_id'),
    );
    return rows.map(({ subject_id }) => subject_id!);
  }

  /**
   * Returns the certificates of accounts that are valid or on hold, and those
   * that the gateway has put on hold.
   */
  async listLive(
    stableIds: readonly string[],
  ): Promise<readonly LiveCertificate[]> {
    const rows = await this.#query(records =>
      unexpired(records, ['valid', 'held'])
        .whereNotNull('subject_id')
        .where(due =>
          due
            .whereNotNull('hold_cause')
            .orWhere(this.#among('subject_id', stableIds)),
        )
        .select('id', 'authority', 'serial_number', 'username', 'subject_id')
        .select('state', 'hold_cause', 'hold_caused_at'),
    );
    return rows.map(row => ({
      id: row.id,
      authority: row.authority,
      serialNumber: BigInt(row.serial_number!),
      username: row.username!,
      stableId: row.subject_id!,
      isHeld: row.state === 'held',
      hold: row.hold_cause
        ? { cause: row.hold_cause, at: new Date(row.hold_caused_at!) }
        : undefined,
    }));
  }

  /** Records why the gateway puts a certificate on hold, before the CA does. */
  async beginHold(id: string, { cause, at }: AccountHold): Promise<void> {
    await this.#query(records =>
      records.where({ id }).update({ hold_cause: cause, hold_caused_at: at }),
    );
  }

  /** Records that the gateway has ended its hold. */
  async endHold({ id, serialNumber }: LiveCertificate): Promise<void> {
    await orUnavailable(() =>
      this.#database.transaction(async transaction => {
        await recordsIn(transaction)
          .where({ id })
          .update({ hold_cause: null, hold_caused_at: null });
        await transaction(OLD_HOLDS)
          .where({ serial_number: String(serialNumber), ended_at: null })
          .update({ ended_at: new Date() });
      }),
    );
  }

  /** Returns the revocations of a CA, by its registered name. */
  revocationsOf(authority: string): RevocationRecords {
    return {
      findIssuer: async serialNumber => {
        const row = await this.#query(records =>
          records
            .where(columnsOfKey({ authority, serialNumber }))
            .first('issuer'),
        );
        return row && { issuer: row.issuer ?? undefined };
      },
      set: (serialNumber, issuer, revocation) =>
        this.#set({ authority, serialNumber }, issuer, revocation),
      list: (issuer, { notExpiredAt }) =>
        this.#listRevoked({ authority, issuer }, notExpiredAt),
      import: (issuer, revoked) => this.#import({ authority, issuer }, revoked),
    };
  }

  /**
   * Records the state of a certificate as the CA has returned it; `undefined`
   * ends a hold. A permanent revocation does not change.
   *
   * @returns the state afterwards; `undefined` also when it is not on record
   */
  async update(
    certificate: CertificateKey,
    revocation: Revocation | undefined,
    revokedBy?: string,
  ): Promise<RevokedCertificate | undefined> {
    const { revoked_at, ...change } = columnsOf(revocation);
    const key = columnsOfKey(certificate);
    const isInOldTable =
      key.authority === EMBEDDED && (await this.#hasEmbedded());
    return await orUnavailable(() =>
      this.#database.transaction(async transaction => {
        const row = () => recordsIn(transaction).where(key);
        // A revocation keeps the date of the hold (ITU-T X.509).
        const date =
          revoked_at &&
          transaction.raw('coalesce(revoked_at, ?)', [revoked_at]);
        const changed = await row()
          .whereIn('state', statesBefore(revocation))
          .update({ ...change, revoked_at: date, revoked_by: null });
        if (changed > 0 && isInOldTable) {
          await transaction(EMBEDDED_CERTIFICATES)
            .where({ serial_number: key.serial_number })
            // 0.2.0 may have revoked it since the last import.
            .where(own =>
              own
                .whereNull('revocation_reason')
                .orWhere({ revocation_reason: ON_HOLD }),
            )
            .update({ revocation_reason: change.reason, revoked_at: date });
        }
        // A CA with these records has not named the caller.
        await (revokedBy &&
          row()
            .where({ state: change.state, revoked_by: null })
            .update({ revoked_by: revokedBy }));
        const recorded = await row().first(...REVOCATION_COLUMNS);
        return recorded && revokedOf(recorded);
      }),
    );
  }

  async #set(
    certificate: CertificateKey,
    issuer: string,
    revocation: Revocation | undefined,
  ): Promise<RevokedCertificate | undefined> {
    // A certificate that was not recorded is in the CRL of this issuer.
    await this.#query(records =>
      records
        .where(columnsOfKey(certificate))
        .whereNull('issuer')
        .update({ issuer }),
    );
    return await this.update(certificate, revocation);
  }

  async #listRevoked(
    of: { readonly authority: string; readonly issuer: string },
    notExpiredAt: Date,
  ): Promise<readonly RevokedCertificate[]> {
    // Does not read the certificates: there may be thousands.
    const rows = await this.#query(records =>
      records
        .where(of)
        .whereNotNull('revoked_at')
        .where(each =>
          each.whereNull('not_after').orWhere('not_after', '>=', notExpiredAt),
        )
        .orderBy(['revoked_at', 'serial_number'])
        .select(...REVOCATION_COLUMNS),
    );
    return rows.flatMap(row => revokedOf(row) ?? []);
  }

  /** Records missing revocations, and returns their number. */
  async #import(
    of: { readonly authority: string; readonly issuer: string },
    revoked: readonly RevokedCertificate[],
  ): Promise<number> {
    const { authority, issuer } = of;
    const listed = await this.#listRevoked(of, new Date(0));
    const known = new Map(
      listed.map(each => [each.serialNumber, each.reason === ON_HOLD]),
    );
    const missing = revoked.filter(({ serialNumber, reason }) => {
      const isHeld = known.get(serialNumber);
      return isHeld === undefined || (isHeld && reason !== ON_HOLD);
    });
    for (const { serialNumber, ...revocation } of missing) {
      const certificate = { authority, serialNumber };
      // Of some certificates, only the revocation is known.
      await this.#query(records =>
        records
          .insert({
            ...columnsOfKey(certificate),
            id: randomUUID(),
            state: 'reserved',
            reserved_at: new Date(),
          })
          .onConflict()
          .ignore(),
      );
      await this.#set(certificate, issuer, revocation);
    }
    return missing.length;
  }

  async #hasEmbedded(): Promise<boolean> {
    this.#hasEmbeddedTable ??= await orUnavailable(() =>
      this.#database.schema.hasTable(EMBEDDED_CERTIFICATES),
    );
    return this.#hasEmbeddedTable;
  }

  /** Selects the rows of accounts. */
  #ownedBy(owners: readonly CertificateOwner[]) {
    const ids = owners.flatMap(({ stableId }) => stableId ?? []);
    const names = owners.map(({ username }) => username);
    return (query: ReturnType<Database>) =>
      void query
        .where(this.#among('subject_id', ids))
        .orWhere(byName =>
          byName.whereNull('subject_id').where(this.#among('username', names)),
        );
  }

  /**
   * Selects the rows with one of some values. Binds all values as one parameter:
   * with one parameter each, every number of values would need another
   * statement, which is slow to prepare.
   */
  #among(column: 'subject_id' | 'username', values: readonly string[]) {
    return this.#database.client.config.client === 'pg'
      ? this.#database.raw(`${column} = any(?)`, [[...values]])
      : this.#database.raw(
          `${column} in (select value from json_each(?))`,
          JSON.stringify(values),
        );
  }

  #query<T>(query: (records: Records) => PromiseLike<T>): Promise<T> {
    return orUnavailable(() => query(recordsIn(this.#database)));
  }
}

function issued(records: Records): Records {
  return records.whereNotNull('recorded_at');
}

function unexpired(
  records: Records,
  states: readonly CertificateRow['state'][],
): Records {
  return records.whereIn('state', states).where('not_after', '>=', new Date());
}

function columnsOf(revocation: Revocation | undefined) {
  if (!revocation) {
    return { state: 'valid', reason: null, revoked_at: null } as const;
  }
  const { reason, revokedAt = new Date() } = revocation;
  const state = reason === ON_HOLD ? 'held' : 'revoked';
  return { state, reason, revoked_at: revokedAt } as const;
}

/** Returns the states that a change may end: a revocation is permanent. */
function statesBefore(
  revocation: Revocation | undefined,
): readonly CertificateRow['state'][] {
  if (!revocation) {
    return ['held'];
  }
  return revocation.reason === ON_HOLD
    ? ['reserved', 'valid']
    : ['reserved', 'abandoned', 'valid', 'held'];
}

function revokedOf(
  row: Pick<CertificateRow, (typeof REVOCATION_COLUMNS)[number]>,
): RevokedCertificate | undefined {
  return row.revoked_at === null
    ? undefined
    : {
        serialNumber: BigInt(row.serial_number!),
        reason: row.reason ?? 0,
        revokedAt: new Date(row.revoked_at),
      };
}
