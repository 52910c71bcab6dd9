import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { CertificateRecords } from './CertificateRecords';

const DAY_MS = 24 * 60 * 60_000;

describe('CertificateRecords', () => {
  const database = withDatabase();

  it('deletes certificates that expired 90 days ago, with their holds', async () => {
    const knex = await openDatabase(database);
    const records = new CertificateRecords(knex);
    for (const [serialNumber, days] of [
      [1n, 91],
      [2n, 89],
    ] as const) {
      await records.add({
        serialNumber,
        username: 'alice',
        subjectId: 'ipaUniqueID=1',
        profile: 'userCerts',
        label: undefined,
        publicKey: Buffer.alloc(0),
        notAfter: new Date(Date.now() - days * DAY_MS),
      });
      await knex('directory_certificate_holds').insert({
        serial_number: String(serialNumber),
        cause: 'locked',
        caused_at: new Date(),
        held_at: new Date(),
        is_confirmed: true,
      });
    }
    await records.deleteExpired();
    for (const table of [
      'directory_certificates',
      'directory_certificate_holds',
    ]) {
      expect(await knex(table).pluck('serial_number')).toEqual(['2']);
    }
  });
});
