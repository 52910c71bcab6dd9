import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { AUTHORITIES, CERTIFICATES } from './database/rows';
import type { EmbeddedCa } from './createEmbeddedCa';
import { compareLog } from './issuers/issuanceLog';
import { serialNumberOf } from './__testUtils__/certificateFacts';
import { readRevocationList } from './__testUtils__/readRevocationList';
import { aliceRequest } from './__testUtils__/requests';
import { TestCa } from './__testUtils__/TestCa';
import { sqlite } from './__testUtils__/TestDatabase';

jest.setTimeout(600_000);

describe('A database that was restored from an older backup', () => {
  let ca: TestCa;
  let node: EmbeddedCa;

  beforeEach(async () => {
    ca = await TestCa.start(sqlite);
    node = await ca.open();
    await node.maintain();
  });

  afterEach(async () => {
    await ca.stop();
  });

  const file = (name: string) => join(ca.folder, name);
  const backUp = async () =>
    await copyFile(file('records.sqlite'), file('backup.sqlite'));

  /** Stops the instance, restores the backup, and starts an instance. */
  const restore = async () => {
    await node.issuers.close();
    await ca.database.knex.destroy();
    await rename(file('backup.sqlite'), file('records.sqlite'));
    ca.database.knex.initialize();
    ca.logger.lines.length = 0;
    node = await ca.open();
  };

  const issue = async (count: number) =>
    await Promise.all(
      Array.from({ length: count }, async () =>
        serialNumberOf(await node.authority.sign(aliceRequest())),
      ),
    );
  const revokedBy = 'user:default/admin';
  const revoke = async (serialNumber: bigint) =>
    await node.authority.revoke({
      serialNumber,
      reason: 'keyCompromise',
      revokedBy,
    });
  const readList = async () =>
    await readRevocationList(await node.lists.read(ca.intermediate.id));
  const compare = async () => {
    const { signer } = await node.issuers.require();
    return await compareLog({
      database: ca.database.knex,
      logged: signer.loggedCertificates(),
      issuerIds: [ca.intermediate.id],
    });
  };

  it('imports the certificates and revocations from the issuance log', async () => {
    const early = await issue(3);
    await backUp();
    const late = await issue(3);
    await revoke(early[0]);
    await node.authority.hold({ serialNumber: early[1], heldBy: revokedBy });
    await revoke(late[0]);
    await node.authority.hold({ serialNumber: late[1], heldBy: revokedBy });
    const before = await readList();

    await restore();
    expect(await node.authority.get(late[0])).toBeUndefined();
    expect(new Set((await compare()).onlyInLog)).toEqual(new Set(late));
    // Signing continues during the import.
    const next = await issue(3);
    await node.maintain();
    expect(ca.logger.lines.filter(line => line.startsWith('warn'))).toEqual([
      expect.stringContaining(
        'Imported 3 certificates and 1 revocations from the issuance log',
      ),
    ]);
    expect(await compare()).toEqual({ onlyInLog: [], onlyInDatabase: [] });
    const all = [...early, ...late, ...next];
    expect(new Set(all).size).toBe(9);
    const rows = await ca.database.knex(CERTIFICATES).select('serial_number');
    expect(new Set(rows.map(row => BigInt(row.serial_number)))).toEqual(
      new Set(all),
    );

    // The hold of a certificate in the backup may have been released.
    const reasons = await Promise.all(
      [...early, ...late].map(
        async serialNumber =>
          (await node.authority.get(serialNumber))?.revocation?.reason,
      ),
    );
    expect(reasons).toEqual([1, undefined, undefined, 1, 6, undefined]);
    const after = await readList();
    expect(after.number).toBeGreaterThan(before.number);
    expect(
      new Map(after.entries.map(entry => [entry.serialNumber, entry.reason])),
    ).toEqual(
      new Map([
        [early[0], 'Key Compromise'],
        [late[0], 'Key Compromise'],
        [late[1], 'Certificate Hold'],
      ]),
    );
    await revoke(late[2]);
    expect((await readList()).entries).toHaveLength(4);
    expect(
      (
        await node.authority.listByUsers({
          usernames: ['alice'],
          which: 'all',
        })
      ).get('alice'),
    ).toHaveLength(9);
  });

  it('keeps the original date when a revocation is recorded again after a restore', async () => {
    const [serialNumber] = await issue(1);
    await backUp();
    await revoke(serialNumber);
    const before = await readList();
    await restore();
    ca.clockAheadMs = 60_000;
    await revoke(serialNumber);
    await node.maintain();
    const after = await readList();
    expect(after.number).toBeGreaterThan(before.number);
    expect(after.entries).toEqual(before.entries);
  });

  it('does not publish a CRL with a lower number than an earlier one', async () => {
    const [serialNumber] = await issue(1);
    await backUp();
    const request = { serialNumber, heldBy: revokedBy, releasedBy: revokedBy };
    await node.authority.hold(request);
    await node.authority.release(request);
    const before = await readList();
    await restore();
    await node.maintain();
    const after = await readList();
    expect(after.number).toBeGreaterThan(before.number);
    expect(after.entries).toEqual([]);
  });

  it('reports certificates that the issuance log does not have', async () => {
    const [serialNumber] = await issue(1);
    await node.issuers.close();
    await rename(file('log'), file('lost'));
    node = await ca.open();
    expect(await compare()).toEqual({
      onlyInLog: [],
      onlyInDatabase: [serialNumber],
    });
  });

  it('lists 10,000 revoked certificates in less than 600 kB', async () => {
    const [serialNumber] = await issue(1);
    const [row] = await ca.database
      .knex(CERTIFICATES)
      .where({ serial_number: String(serialNumber) });
    const rows = Array.from({ length: 10_000 }, (_, index) => ({
      ...row,
      serial_number: String((1n << 126n) + BigInt(index)),
      request_key: null,
      revoked_at: new Date(),
      revocation_reason: 1,
      revoked_by: revokedBy,
    }));
    await ca.database.knex.batchInsert(CERTIFICATES, rows, 500);
    await ca.database.knex(AUTHORITIES).increment('changes');
    await node.maintain();
    const list = await node.lists.read(ca.intermediate.id);
    expect((await readRevocationList(list)).entries).toHaveLength(10_000);
    expect(list.length).toBeLessThan(600_000);
  });
});
