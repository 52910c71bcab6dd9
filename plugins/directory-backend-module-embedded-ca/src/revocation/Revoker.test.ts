import { rename } from 'node:fs/promises';
import { serialNumberOf } from '../__testUtils__/certificateFacts';
import { readRevocationList } from '../__testUtils__/readRevocationList';
import { aliceRequest } from '../__testUtils__/requests';
import { TestCa } from '../__testUtils__/TestCa';
import { sqlite } from '../__testUtils__/TestDatabase';

describe('Revoker', () => {
  it('revokes when no CRL can be signed, logs that, and a later CRL lists it', async () => {
    const ca = await TestCa.start(sqlite);
    const node = await ca.open();
    const serialNumber = serialNumberOf(
      await node.authority.sign(aliceRequest()),
    );
    await rename(ca.keyFile, `${ca.keyFile}.away`);
    const keyless = await ca.open();
    await expect(
      keyless.revoker.revoke({
        serialNumber,
        reason: 'superseded',
        revokedBy: 'user:default/admin',
      }),
    ).resolves.toBeDefined();
    expect(ca.logger.lines.at(-1)).toMatch(/not on the revocation list yet/);
    await node.lists.renew();
    expect(await readRevocationList(await node.lists.read())).toMatchObject({
      serialNumbers: [serialNumber],
    });
    await ca.stop();
  });
});
