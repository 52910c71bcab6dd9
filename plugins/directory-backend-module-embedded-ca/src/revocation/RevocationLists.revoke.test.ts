import { rename } from 'node:fs/promises';
import { serialNumberOf } from '../__testUtils__/certificateFacts';
import { readRevocationList } from '../__testUtils__/readRevocationList';
import { aliceRequest } from '../__testUtils__/requests';
import { TestCa } from '../__testUtils__/TestCa';
import { sqlite } from '../__testUtils__/TestDatabase';

describe('RevocationLists.revoke', () => {
  it('records a revocation when no CRL can be signed, and a later CRL contains it', async () => {
    const ca = await TestCa.start(sqlite);
    const node = await ca.open();
    const serialNumber = serialNumberOf(
      await node.authority.sign(aliceRequest()),
    );
    await rename(ca.keyFile, `${ca.keyFile}.away`);
    const keyless = await ca.open();
    await expect(
      keyless.authority.revoke({
        serialNumber,
        reason: 'superseded',
        revokedBy: 'user:default/admin',
      }),
    ).resolves.toMatchObject({ revocation: { reason: 4 } });
    expect(ca.logger.lines.at(-1)).toMatch(/the CRL was not renewed/);
    await node.lists.renew();
    expect(await readRevocationList(await node.lists.read())).toMatchObject({
      serialNumbers: [serialNumber],
    });
    await ca.stop();
  });
});
