import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { randomUUID } from 'node:crypto';

const CERTIFICATES = 'directory_certificates';
const HOLDS = 'directory_certificate_holds';
const OVERRIDES = 'directory_hold_approvals';

/** Lifetime of an override. */
const OVERRIDE_MS = 10 * 60_000;

/** Number of records to read at a time. */
const PAGE_SIZE = 1000;

/** Reason for which a certificate is on hold. */
export type HoldCause = 'locked' | 'deleted';

/** A certificate that is valid or on hold as far as the gateway knows. */
export interface HoldableCertificate {
  readonly serialNumber: bigint;
  readonly username: string;
  readonly subjectId: string;
  /** A hold that the gateway has recorded before it was placed, and not ended. */
  readonly hold?: {
    readonly cause: HoldCause;
    readonly causedAt: Date;
    /** Whether the CA has confirmed the hold. */
    readonly isConfirmed: boolean;
  };
}

/** Database records of holds, and of overrides of their limit. */
export class HoldRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Yields all live certificates with a known account, read in pages. */
  async *certificates(now: Date): AsyncIterable<HoldableCertificate> {
    for (let last = ''; ;) {
      const rows = await this.#database(`${CERTIFICATES} as c`)
        .leftJoin(`${HOLDS} as h`, join =>
          join.on('h.serial_number', 'c.serial_number').andOnNull('h.ended_at'),
        )
        .where('c.serial_number', '>', last)
        .where('c.not_after', '>', now)
        .where('c.is_revoked', false)
        .whereNotNull('c.subject_id')
        .orderBy('c.serial_number')
        .limit(PAGE_SIZE)
        .select('h.*', 'c.serial_number', 'c.username', 'c.subject_id');
      for (const { id, cause, caused_at: causedAt, ...row } of rows) {
        const isConfirmed = Boolean(row.is_confirmed);
        yield {
          serialNumber: BigInt(row.serial_number),
          username: row.username,
          subjectId: row.subject_id,
          hold:
            id === null
              ? undefined
              : { cause, causedAt: new Date(causedAt), isConfirmed },
        };
      }
      if (rows.length < PAGE_SIZE) {
        return;
      }
      last = rows[rows.length - 1].serial_number;
    }
  }

  /** Records a hold before the CA places it. */
  async begin(serialNumber: bigint, cause: HoldCause, now: Date) {
    await this.#database(HOLDS).insert({
      serial_number: String(serialNumber),
      cause,
      caused_at: now,
      held_at: now,
      is_confirmed: false,
    });
  }

  /** Records another cause, the confirmation by the CA, or the end of a hold. */
  async update(
    serialNumber: bigint,
    change:
      | { cause: HoldCause; caused_at: Date }
      | { is_confirmed: true }
      | { ended_at: Date },
  ): Promise<void> {
    await this.#database(HOLDS)
      .where({ serial_number: String(serialNumber), ended_at: null })
      .update(change);
  }

  /** Records that a certificate is revoked, so that it is no longer checked. */
  async markRevoked(serialNumber: bigint): Promise<void> {
    await this.#database(CERTIFICATES)
      .where({ serial_number: String(serialNumber) })
      .update({ is_revoked: true });
  }

  /** Permits one run that changes `count` accounts; returns the expiry. */
  async override({ count, actor }: { count: number; actor: string }) {
    const expiresAt = new Date(Date.now() + OVERRIDE_MS);
    await this.#database(OVERRIDES).insert({
      id: randomUUID(),
      count,
      approved_by: actor,
      expires_at: expiresAt,
    });
    return expiresAt;
  }

  /** Returns whether an override permits a run, and deletes the override. */
  async useOverride(count: number): Promise<boolean> {
    return (
      (await this.#database(OVERRIDES)
        .where({ count })
        .where('expires_at', '>', new Date())
        .delete()) > 0
    );
  }
}
