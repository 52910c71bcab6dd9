import type { Reminder } from './reminder';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';

const TABLE = 'directory_reminders';

/**
 * Age in milliseconds at which a claim expires. Sending takes seconds, so a
 * process whose claim is older has crashed.
 */
const CLAIM_EXPIRES_MS = 15 * 60 * 1000;

/** The exclusive right to send a reminder. */
export interface Claim {
  readonly reminder: Reminder;
  readonly claimedAt: Date;
}

/**
 * Records in the database which reminders were sent. A reminder is claimed by
 * its unique key before it is sent, so that only one of several processes sends
 * it. The claim of a crashed process expires: a reminder is sent at least once,
 * and twice only if a process crashes between sending and recording.
 */
export class ReminderLedger {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the reminders that were not sent. */
  async unsentOf(reminders: readonly Reminder[]): Promise<Reminder[]> {
    // Records of expired certificates are removed, so that few are read.
    const rows: ReturnType<typeof keyOf>[] =
      await this.#database(TABLE).whereNotNull('sent_at');
    const sent = new Set(rows.map(textOf));
    return reminders.filter(reminder => !sent.has(textOf(keyOf(reminder))));
  }

  /**
   * Claims a reminder. Returns `undefined` when it was sent or another process
   * has claimed it.
   */
  async claim(reminder: Reminder, now: Date): Promise<Claim | undefined> {
    const claim = { reminder, claimedAt: now };
    const inserted = await this.#database(TABLE)
      .insert({ ...keyOf(reminder), claimed_at: now })
      .onConflict()
      .ignore()
      .returning('days_before');
    if (inserted.length > 0) {
      return claim;
    }
    const takenOver = await this.#row(reminder)
      .whereNull('sent_at')
      .where('claimed_at', '<=', new Date(now.getTime() - CLAIM_EXPIRES_MS))
      .update({ claimed_at: now });
    return takenOver === 1 ? claim : undefined;
  }

  /** Records that a claimed reminder was sent. */
  async markSent({ reminder }: Claim, now: Date): Promise<void> {
    await this.#row(reminder).update({ sent_at: now });
  }

  /** Releases the claim of a reminder that could not be sent. */
  async release({ reminder, claimedAt }: Claim): Promise<void> {
    await this.#row(reminder)
      .whereNull('sent_at')
      .where({ claimed_at: claimedAt })
      .delete();
  }

  /** Removes the records of expired certificates. */
  async removeExpired(now: Date): Promise<void> {
    await this.#database(TABLE).where('not_after', '<', now).delete();
  }

  #row(reminder: Reminder) {
    return this.#database(TABLE).where(keyOf(reminder));
  }
}

function keyOf({ certificate, daysBefore }: Reminder) {
  return {
    serial_number: String(certificate.serialNumber),
    not_after: certificate.notAfter,
    days_before: daysBefore,
  };
}

/** Returns the key of a reminder or of its row, in which SQLite has a number. */
function textOf(key: ReturnType<typeof keyOf>): string {
  return JSON.stringify([
    key.serial_number,
    new Date(key.not_after).getTime(),
    key.days_before,
  ]);
}
