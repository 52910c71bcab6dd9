/* eslint-disable jest/no-export -- a suite for the tests of two databases */
import { rename } from 'node:fs/promises';
import type { EmbeddedCa } from '../createEmbeddedCa';
import { serialNumberOf } from './certificateFacts';
import { readRevocationList } from './readRevocationList';
import { aliceRequest } from './requests';
import { TestCa } from './TestCa';
import type { TestDatabaseKind } from './TestDatabase';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Defines the tests of revocations and CRLs on a database. */
export function describeRevocation(kind: TestDatabaseKind): void {
  describe(`Revocation on ${kind.name}`, () => {
    let ca: TestCa;
    let node: EmbeddedCa;

    beforeEach(async () => {
      ca = await TestCa.start(kind);
      node = await ca.open();
    });

    afterEach(async () => {
      await ca?.stop();
    });

    const issue = async () =>
      serialNumberOf(await node.authority.sign(aliceRequest()));
    const revoke = async (serialNumber: bigint, by: EmbeddedCa = node) =>
      await by.revocations.revoke({
        serialNumber,
        reason: 'superseded',
        revokedBy: 'user:default/admin',
        revokedAt: new Date(Date.now() + ca.clockAheadMs),
      });
    const readList = async () => readRevocationList(await node.lists.read());

    it('signs an empty CRL first, and renews it after half of its validity', async () => {
      await expect(node.lists.read()).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      await node.lists.renew();
      const first = await readList();
      expect(first).toMatchObject({ number: 1, serialNumbers: [] });
      ca.clockAheadMs = 3.4 * DAY_MS;
      await node.lists.renew();
      expect(await readList()).toEqual(first);
      ca.clockAheadMs = 3.6 * DAY_MS;
      await node.lists.renew();
      const second = await readList();
      expect(second.number).toBe(2);
      expect(second.nextUpdate.getTime()).toBeGreaterThan(
        first.nextUpdate.getTime(),
      );
    });

    it('lists each revocation, and keeps the first one of a certificate', async () => {
      const serialNumber = await issue();
      await node.lists.renew();
      const revocation = await revoke(serialNumber);
      // As after a crash between the revocation and its list.
      expect((await readList()).serialNumbers).toEqual([]);
      await node.lists.renew();
      expect(await readList()).toMatchObject({
        number: 2,
        serialNumbers: [serialNumber],
      });
      ca.clockAheadMs = 60_000;
      expect(await revoke(serialNumber)).toEqual(revocation);
      await node.lists.renew();
      expect((await readList()).number).toBe(2);
      expect((await node.authority.get(serialNumber))?.revocation).toEqual({
        reason: 4,
      });
    });

    it('ignores unknown serial numbers', async () => {
      expect(await revoke(42n)).toBeUndefined();
      await node.lists.renew();
      expect((await readList()).serialNumbers).toEqual([]);
    });

    it('loses no revocation when instances revoke and sign concurrently', async () => {
      const other = await ca.open();
      const serialNumbers = await Promise.all(
        Array.from({ length: 20 }, () => issue()),
      );
      await Promise.all(
        serialNumbers.map(async (serialNumber, index) => {
          const by = [node, other][index % 2];
          await revoke(serialNumber, by);
          await by.lists.renew();
        }),
      );
      const list = await readList();
      expect(new Set(list.serialNumbers)).toEqual(new Set(serialNumbers));
      expect(list.number).toBeLessThanOrEqual(20);
    });

    it('drops an expired certificate after a CRL that lists it', async () => {
      const serialNumber = await issue();
      await revoke(serialNumber);
      await node.lists.renew();
      ca.clockAheadMs = 31 * DAY_MS;
      await node.lists.renew();
      expect((await readList()).serialNumbers).toEqual([serialNumber]);
      ca.clockAheadMs = 38 * DAY_MS;
      await node.lists.renew();
      expect(await readList()).toMatchObject({ number: 3, serialNumbers: [] });
    });

    it('returns the CRL on an instance without the key, which cannot sign', async () => {
      const serialNumber = await issue();
      await node.lists.renew();
      await rename(ca.keyFile, `${ca.keyFile}.away`);
      const keyless = await ca.open();
      await revoke(serialNumber, keyless);
      await expect(keyless.lists.renew()).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      expect(await keyless.lists.read()).toEqual(await node.lists.read());
      await node.lists.renew();
      expect((await readList()).serialNumbers).toEqual([serialNumber]);
    });
  });
}
