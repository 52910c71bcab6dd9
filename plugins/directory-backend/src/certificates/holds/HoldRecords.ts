import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { randomUUID } from 'node:crypto';
import { type CertificateRow, RECORDS } from '../records/CertificateRecords';

/** Table of the holds that 0.2.0 has placed. */
const OLD_HOLDS = 'directory_certificate_holds';
const OVERRIDES = 'directory_hold_approvals';

/** Lifetime of an override. */
const OVERRIDE_MS = 10 * 60_000;

/** Precedes all IDs; PostgreSQL compares UUIDs only with UUIDs. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Number of records to read at a time. */
const PAGE_SIZE = 1000;

/** Reason for which a certificate is on hold. */
export type HoldCause = 'locked' | 'deleted';

/** A certificate that is valid or on hold as far as the gateway knows. */
export interface HoldableCertificate {
  /** ID of the record. */
  readonly id: string;
  /** Registered name of the CA. */
  readonly authority: string;
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
    for (let last = FIRST_ID; ;) {
      const rows = await this.#table()
        .where('id', '>', last)
        .where('not_after', '>', now)
        .whereIn('state', ['valid', 'held'])
        .whereNotNull('subject_id')
        .orderBy('id')
        .limit(PAGE_SIZE);
      for (const {
        hold_cause: cause,
        hold_caused_at: causedAt,
        ...row
      } of rows) {
        const isConfirmed = Boolean(row.hold_confirmed);
        yield {
          id: row.id,
          authority: row.authority,
          serialNumber: BigInt(row.serial_number!),
          username: row.username!,
          subjectId: row.subject_id!,
          hold:
            cause === null
              ? undefined
              : { cause, causedAt: new Date(causedAt!), isConfirmed },
        };
      }
      if (rows.length < PAGE_SIZE) {
        return;
      }
      last = rows[rows.length - 1].id;
    }
  }

  /** Records a hold before the CA places it, or another cause. */
  async begin(id: string, cause: HoldCause, now: Date): Promise<void> {
    await this.#table()
      .where({ id })
      .update({ hold_cause: cause, hold_caused_at: now });
  }

  /** Records that the CA has placed a hold. */
  async confirm(id: string): Promise<void> {
    await this.#table().where({ id }).update({ hold_confirmed: true });
  }

  /** Records the end of a hold. */
  async end({ id, serialNumber }: HoldableCertificate): Promise<void> {
    await this.#database.transaction(async transaction => {
      await transaction(RECORDS).where({ id }).update({
        hold_cause: null,
        hold_caused_at: null,
        hold_confirmed: false,
      });
      await transaction(OLD_HOLDS)
        .where({ serial_number: String(serialNumber), ended_at: null })
        .update({ ended_at: new Date() });
    });
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

  #table() {
    return this.#database<CertificateRow>(RECORDS);
  }
}
