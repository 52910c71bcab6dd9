import { Certificate } from '@directory-gateway/x509';
import { AuthorityProcess } from './__testUtils__/crash/AuthorityProcess';
import { CrashTrial } from './__testUtils__/crash/CrashTrial';
import { serialNumberOf } from './__testUtils__/certificateFacts';
import { aliceRequest } from './__testUtils__/requests';
import { sharedPostgres } from './__testUtils__/sharedPostgres';
import { TestCa } from './__testUtils__/TestCa';
import { sqlite } from './__testUtils__/TestDatabase';
import { AUTHORITIES } from './database/rows';

/**
 * Number of kills per database and signer; `make trials` sets a higher number,
 * and also tests PostgreSQL and the signer process.
 */
const KILLS = Number(process.env.KILLS || 8);

jest.setTimeout(600_000 + KILLS * 30_000);

const postgres = sharedPostgres();

describe.each(process.env.KILLS ? [sqlite, postgres] : [sqlite])(
  'EmbeddedAuthority on $name',
  kind => {
    const signers: readonly ('file' | 'socket')[] = process.env.KILLS
      ? ['file', 'socket']
      : ['file'];
    it.each(signers)(
      `loses no returned certificate in ${KILLS} crashes with the signer in %s`,
      async signer => {
        const counts = await CrashTrial.run({ kind, signer, kills: KILLS });
        expect(counts).toMatchObject({
          kills: KILLS,
          lost: 0,
          duplicates: 0,
          changed: 0,
          misfiled: 0,
          onlyInLog: 0,
          onlyInDatabase: 0,
          issuers: 1,
        });
        expect(counts.received).toBeGreaterThan(0);
        expect(counts.unanswered).toBeGreaterThan(0);
        expect(counts.killsAtStart).toBeGreaterThan(0);
        expect(counts.signerKills > 0).toBe(signer === 'socket');
      },
    );
  },
);

describe.each([sqlite, postgres])('EmbeddedAuthority on $name', kind => {
  it('returns one certificate when processes start concurrently', async () => {
    const ca = await TestCa.start(kind, { tables: 'none' });
    const processes = [1, 2, 3].map(() => AuthorityProcess.load());
    try {
      await Promise.all(processes.map(process => process.loaded()));
      const options = {
        database: ca.database.config,
        embedded: ca.block(),
      };
      await Promise.all(processes.map(process => process.start(options)));
      expect(await ca.database.knex(AUTHORITIES)).toHaveLength(1);

      const request = aliceRequest();
      const certificates = await Promise.all(
        processes.map(process => process.sign(request)),
      );
      expect(certificates[1]).toEqual(certificates[0]);
      expect(certificates[2]).toEqual(certificates[0]);
      const [certificate] = certificates;
      const { authority } = await ca.open();
      const found = await authority.get(
        serialNumberOf({ certificate: new Certificate(certificate) }),
      );
      expect(found?.certificate.der).toEqual(certificate);
    } finally {
      await Promise.all(processes.map(process => process.kill()));
      await ca.stop();
    }
  });
});
