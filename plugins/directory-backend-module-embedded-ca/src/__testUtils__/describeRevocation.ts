/* eslint-disable jest/no-export -- one suite for the tests of two databases */
import { rename } from 'node:fs/promises';
import type { EmbeddedCa } from '../createEmbeddedCa';
import { serialNumberOf } from './certificateFacts';
import { readRevocationList } from './readRevocationList';
import { aliceRequest } from './requests';
import { TestCa } from './TestCa';
import type { TestDatabaseKind } from './TestDatabase';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What revocations and their lists promise on every database, as tests. */
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

    it('has an empty list first, and renews it after half of its time', async () => {
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

    it('tells of each revocation, and of a repeated one as it was', async () => {
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

    it('knows nothing of certificates that are not its own', async () => {
      expect(await revoke(42n)).toBeUndefined();
      await node.lists.renew();
      expect((await readList()).serialNumbers).toEqual([]);
    });

    it('loses no revocation when nodes revoke and sign lists at once', async () => {
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

    it('drops what is over, once a later list has told of it', async () => {
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

    it('is told by a node without the key, too, which signs no list', async () => {
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
