import { withDatabase } from '../../__testUtils__/withDatabase';
import { openDatabase } from '../../openDatabase';
import { DAY_MS, type Reminder } from './reminder';
import { ReminderLedger } from './ReminderLedger';

const MINUTE_MS = 60 * 1000;
const now = new Date('2026-12-01T12:00:00Z');
const after = (ms: number) => new Date(now.getTime() + ms);

const reminder: Reminder = {
  certificate: {
    serialNumber: (1n << 159n) - 1n,
    username: 'alice',
    notBefore: after(-30 * DAY_MS),
    notAfter: after(DAY_MS),
  },
  daysBefore: 1,
};

describe('ReminderLedger', () => {
  const database = withDatabase();
  let ledgers: readonly ReminderLedger[];

  beforeEach(async () => {
    ledgers = await Promise.all(
      [1, 2, 3].map(
        async () => new ReminderLedger(await openDatabase(database)),
      ),
    );
  });

  it('grants the claim of each reminder to one of several processes', async () => {
    const claims = (of: Reminder) =>
      Promise.all(
        [...ledgers, ...ledgers].map(ledger => ledger.claim(of, now)),
      );
    const further = { ...reminder, daysBefore: 7 };
    const other = {
      ...reminder,
      certificate: { ...reminder.certificate, notAfter: after(2 * DAY_MS) },
    };
    for (const each of [reminder, further, other]) {
      expect((await claims(each)).filter(Boolean)).toHaveLength(1);
      expect((await claims(each)).filter(Boolean)).toEqual([]);
    }
  });

  it('records that a reminder was sent', async () => {
    const [ledger, another] = ledgers;
    const claim = await ledger.claim(reminder, now);
    expect(await another.unsentOf([reminder])).toEqual([reminder]);
    await ledger.markSent(claim!, now);
    const further = { ...reminder, daysBefore: 7 };
    expect(await another.unsentOf([reminder, further])).toEqual([further]);
    expect(await another.claim(reminder, after(DAY_MS))).toBeUndefined();
  });

  it('releases a claim', async () => {
    const [ledger, another] = ledgers;
    const claim = await ledger.claim(reminder, now);
    await ledger.release(claim!);
    expect(await another.claim(reminder, now)).toBeDefined();
  });

  it('grants the claim of a crashed process to one other process', async () => {
    const [ledger] = ledgers;
    const lost = await ledger.claim(reminder, now);
    const early = after(14 * MINUTE_MS);
    expect(await ledger.claim(reminder, early)).toBeUndefined();
    const late = after(15 * MINUTE_MS);
    const taken = await Promise.all(
      ledgers.map(each => each.claim(reminder, late)),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    // If the first process did not crash, it cannot release the new claim.
    await ledger.release(lost!);
    expect(await ledger.claim(reminder, late)).toBeUndefined();
  });

  it('removes the records of expired certificates', async () => {
    const [ledger] = ledgers;
    await ledger.markSent((await ledger.claim(reminder, now))!, now);
    await ledger.removeExpired(after(DAY_MS));
    expect(await ledger.unsentOf([reminder])).toEqual([]);
    await ledger.removeExpired(after(DAY_MS + 1));
    expect(await ledger.unsentOf([reminder])).toEqual([reminder]);
  });
});
