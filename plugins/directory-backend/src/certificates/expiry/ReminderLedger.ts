import type { DatabaseService } from '@backstage/backend-plugin-api';
import type { Reminder } from './reminder';

const TABLE = 'directory_reminders';

/**
 * Sending takes seconds. A process that has claimed a message and not sent it
 * for so long has died.
 */
const CLAIM_HOLDS_MS = 15 * 60 * 1000;

/** Knex, as Backstage hands it out. */
type Database = Awaited<ReturnType<DatabaseService['getClient']>>;

/** The right to send one message, until it is settled. */
export interface Claim {
  readonly reminder: Reminder;
  readonly claimedAt: Date;
}

/**
 * Which messages have gone out, in the portal's database. A message is claimed
 * by its unique key before it is sent, so that of several processes one sends
 * it. What was claimed by a process that died is claimed again: a message goes
 * out at least once, and more than once only when a process dies between
 * sending and noting it.
 */
export class ReminderLedger {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether a message has gone out. */
  async isSent(reminder: Reminder): Promise<boolean> {
    const row = await this.#row(reminder).whereNotNull('sent_at').first();
    return row !== undefined;
  }

  /** `undefined` when it has gone out, or another process is about to send it. */
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
      .where('claimed_at', '<=', new Date(now.getTime() - CLAIM_HOLDS_MS))
      .update({ claimed_at: now });
    return takenOver === 1 ? claim : undefined;
  }

  /** Notes that a claimed message has gone out. */
  async settle({ reminder }: Claim, now: Date): Promise<void> {
    await this.#row(reminder).update({ sent_at: now });
  }

  /** Gives a claim back: the message was not taken. */
  async release({ reminder, claimedAt }: Claim): Promise<void> {
    await this.#row(reminder)
      .whereNull('sent_at')
      .where({ claimed_at: claimedAt })
      .delete();
  }

  /** Forgets the messages about certificates that have ended. */
  async forget(now: Date): Promise<void> {
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
