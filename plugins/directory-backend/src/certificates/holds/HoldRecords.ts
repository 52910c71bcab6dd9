import { InputError } from '@backstage/errors';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { randomUUID } from 'node:crypto';
import type { RecordedPosition } from '../../replica/sync/PositionGate';

const CERTIFICATES = 'directory_certificates';
const HOLDS = 'directory_certificate_holds';
const APPROVALS = 'directory_hold_approvals';
const STATE = 'directory_hold_state';

const HOUR_MS = 60 * 60_000;

/** Lifetime of an approval. */
const APPROVAL_MS = 10 * 60_000;

/** Time after which the records of expired certificates are deleted. */
const RETENTION_MS = 90 * 24 * HOUR_MS;

/** Number of records to read at a time. */
const PAGE_SIZE = 1000;

/** Reason for which a certificate is on hold. */
export type HoldCause = 'locked' | 'deleted';

/** A hold that the gateway has placed and not ended. */
export interface Hold {
  readonly id: number;
  readonly cause: HoldCause;
  /** Time at which the cause was found. */
  readonly causedAt: Date;
  /** Whether the CA has confirmed the hold. */
  readonly isConfirmed: boolean;
}

/** A certificate that is valid as far as the gateway knows, and its hold. */
export interface HoldableCertificate {
  readonly serialNumber: bigint;
  readonly username: string;
  readonly subjectId: string;
  readonly recordedAt: Date;
  /** See `CertificateRecord.lookupServer`. */
  readonly lookupServer: string | undefined;
  readonly hold: Hold | undefined;
}

/** A row of the join of certificates and holds. */
interface Row {
  readonly serial_number: string;
  readonly username: string;
  readonly subject_id: string;
  readonly recorded_at: Date | number;
  readonly lookup_server: string | null;
  readonly hold_id: number | null;
  readonly cause: HoldCause | null;
  readonly caused_at: Date | number | null;
  readonly is_confirmed: boolean | number | null;
}

/** Database records of holds, their limit and approvals. */
export class HoldRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Yields certificates with a known account that are neither revoked nor
   * expired.
   */
  async *certificates(now: Date): AsyncIterable<HoldableCertificate> {
    let last = '';
    for (;;) {
      const rows: Row[] = await this.#database(`${CERTIFICATES} as c`)
        .leftJoin(`${HOLDS} as h`, join =>
          join.on('h.serial_number', 'c.serial_number').andOnNull('h.ended_at'),
        )
        .where('c.serial_number', '>', last)
        .where('c.not_after', '>', now)
        .where('c.is_revoked', false)
        .whereNotNull('c.subject_id')
        .orderBy('c.serial_number')
        .limit(PAGE_SIZE)
        .select(
          'c.serial_number',
          'c.username',
          'c.subject_id',
          'c.recorded_at',
          'c.lookup_server',
          'h.id as hold_id',
          'h.cause',
          'h.caused_at',
          'h.is_confirmed',
        );
      yield* rows.map(certificateOf);
      if (rows.length < PAGE_SIZE) {
        return;
      }
      last = rows[rows.length - 1].serial_number;
    }
  }

  /**
   * Returns IDs of the accounts of recorded certificates; some of them exist.
   */
  async subjectIds(limit: number): Promise<readonly string[]> {
    const rows: { subject_id: string }[] = await this.#database(CERTIFICATES)
      .distinct('subject_id')
      .whereNotNull('subject_id')
      .orderBy('subject_id')
      .limit(limit);
    return rows.map(row => row.subject_id);
  }

  /**
   * Records a hold before it is placed, if the limit or an approval allows it.
   * Both count accounts: further certificates of the same account are allowed.
   *
   * @returns the hold; `undefined` when it needs approval
   */
  async begin(
    certificate: Pick<HoldableCertificate, 'serialNumber' | 'subjectId'>,
    options: {
      readonly cause: HoldCause;
      readonly now: Date;
      readonly maxPerHour: number;
    },
  ): Promise<Hold | undefined> {
    const { cause, now, maxPerHour } = options;
    return this.#database.transaction(async transaction => {
      // Serializes processes that begin holds.
      await transaction(STATE).where({ id: 1 }).update({ id: 1 });
      const since = new Date(now.getTime() - HOUR_MS);
      const counted: { approval_id: string | null } | undefined = await holdsOf(
        transaction,
      )
        .where('h.held_at', '>', since)
        .where('c.subject_id', certificate.subjectId)
        .first('h.approval_id');
      const [{ accounts }] = await holdsOf(transaction)
        .where('h.held_at', '>', since)
        .whereNull('h.approval_id')
        .countDistinct({ accounts: 'c.subject_id' });
      let approvalId = counted?.approval_id;
      if (!counted) {
        approvalId =
          Number(accounts) < maxPerHour
            ? null
            : await unusedApproval(transaction, now);
      }
      if (approvalId === undefined) {
        return undefined;
      }
      const [{ id }] = await transaction(HOLDS)
        .insert({
          serial_number: String(certificate.serialNumber),
          cause,
          caused_at: now,
          held_at: now,
          is_confirmed: false,
          approval_id: approvalId,
        })
        .returning('id');
      return { id, cause, causedAt: now, isConfirmed: false };
    });
  }

  /** Records that the CA has confirmed the hold. */
  async confirm({ id }: Hold): Promise<void> {
    await this.#database(HOLDS).where({ id }).update({ is_confirmed: true });
  }

  /** Records another cause of a hold. */
  async setCause({ id }: Hold, cause: HoldCause, now: Date): Promise<void> {
    await this.#database(HOLDS).where({ id }).update({ cause, caused_at: now });
  }

  /** Records that a hold was released or its certificate revoked. */
  async end({ id }: Hold, now: Date): Promise<void> {
    await this.#database(HOLDS).where({ id }).update({ ended_at: now });
  }

  /** Deletes a hold that the CA did not place. */
  async cancel({ id }: Hold): Promise<void> {
    await this.#database(HOLDS).where({ id }).delete();
  }

  /** Records that a certificate is revoked, so that it is no longer checked. */
  async markRevoked(serialNumber: bigint): Promise<void> {
    await this.#database(CERTIFICATES)
      .where({ serial_number: String(serialNumber) })
      .update({ is_revoked: true });
  }

  /** Returns the position of the directory at the last run. */
  async position(): Promise<RecordedPosition | undefined> {
    const row = await this.#database(STATE).where({ id: 1 }).first();
    return row?.position ? JSON.parse(row.position) : undefined;
  }

  /**
   * Records the position of the directory and the number of accounts that wait
   * for holds.
   *
   * @param run.coveredUntil - time of issuance before which the state includes
   *   the accounts of certificates that were issued with the same server
   */
  async finishRun(run: {
    readonly position: RecordedPosition;
    readonly coveredUntil: Date;
    readonly waiting: number;
    readonly now: Date;
  }): Promise<void> {
    const { position, coveredUntil, waiting, now } = run;
    await this.#database.transaction(async transaction => {
      await transaction(STATE)
        .where({ id: 1 })
        .update({
          position: JSON.stringify(position),
          waiting,
          waiting_at: now,
        });
      await transaction(CERTIFICATES)
        .where({ lookup_server: position.server })
        .where('recorded_at', '<', coveredUntil)
        .update({ lookup_server: null });
      const expired = transaction(CERTIFICATES)
        .where('not_after', '<', new Date(now.getTime() - RETENTION_MS))
        .select('serial_number');
      await transaction(HOLDS).whereIn('serial_number', expired).delete();
      await transaction(CERTIFICATES)
        .where('not_after', '<', new Date(now.getTime() - RETENTION_MS))
        .delete();
      await transaction(APPROVALS)
        .where('expires_at', '<', new Date(now.getTime() - HOUR_MS))
        .delete();
    });
  }

  /**
   * Allows the holds of accounts above the limit for 10 minutes.
   *
   * @returns the expiry of the approval
   * @throws InputError when a different number of accounts is waiting.
   */
  async approve(
    approval: { readonly count: number; readonly approvedBy: string },
    now: Date = new Date(),
  ): Promise<Date> {
    const { count, approvedBy } = approval;
    const expiresAt = new Date(now.getTime() + APPROVAL_MS);
    await this.#database.transaction(async transaction => {
      // An approval applies once, to the holds that the last run reported.
      const updated = await transaction(STATE)
        .where({ id: 1, waiting: count })
        .where('waiting_at', '>', new Date(now.getTime() - APPROVAL_MS))
        .where('waiting', '>', 0)
        .update({ waiting: 0 });
      if (updated === 0) {
        throw new InputError(
          `The number of users whose certificates are waiting to be put on hold is not ${count}. See the log for the number.`,
        );
      }
      await transaction(APPROVALS).insert({
        id: randomUUID(),
        count,
        approved_by: approvedBy,
        expires_at: expiresAt,
      });
    });
    return expiresAt;
  }
}

/** Joins holds `h` with their certificates `c`. */
function holdsOf(database: Database) {
  return database(`${HOLDS} as h`).join(
    `${CERTIFICATES} as c`,
    'c.serial_number',
    'h.serial_number',
  );
}

/** Returns the ID of an approval that allows holds of a further account. */
async function unusedApproval(
  transaction: Database,
  now: Date,
): Promise<string | undefined> {
  const approvals: { id: string; count: number }[] = await transaction(
    APPROVALS,
  )
    .where('expires_at', '>', now)
    .select('id', 'count');
  for (const { id, count } of approvals) {
    const [{ used }] = await holdsOf(transaction)
      .where('h.approval_id', id)
      .countDistinct({ used: 'c.subject_id' });
    if (Number(used) < count) {
      return id;
    }
  }
  return undefined;
}

function certificateOf(row: Row): HoldableCertificate {
  return {
    serialNumber: BigInt(row.serial_number),
    username: row.username,
    subjectId: row.subject_id,
    recordedAt: new Date(row.recorded_at),
    lookupServer: row.lookup_server ?? undefined,
    hold:
      row.hold_id === null
        ? undefined
        : {
            id: row.hold_id,
            cause: row.cause!,
            causedAt: new Date(row.caused_at!),
            isConfirmed: Boolean(row.is_confirmed),
          },
  };
}
