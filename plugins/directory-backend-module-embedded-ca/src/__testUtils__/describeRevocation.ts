/* eslint-disable jest/no-export -- a suite for the tests of two databases */
import { rename } from 'node:fs/promises';
import type { EmbeddedCa } from '../createEmbeddedCa';
import { serialNumberOf } from './certificateFacts';
import { readRevocationList } from './readRevocationList';
import { aliceRequest } from './requests';
import { TestCa } from './TestCa';
import type { TestDatabaseKind } from './TestDatabase';
import { TestRoot } from './TestHierarchy';

const DAY_MS = 24 * 60 * 60 * 1000;
const ADMIN = 'user:default/admin';

/** Defines the tests of revocations, holds and CRLs on a database. */
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

    const issue = async (by: EmbeddedCa = node) =>
      serialNumberOf(await by.authority.sign(aliceRequest()));
    const revoke = async (serialNumber: bigint, by: EmbeddedCa = node) =>
      await by.authority.revoke({
        serialNumber,
        reason: 'superseded',
        revokedBy: ADMIN,
      });
    const hold = async (serialNumber: bigint, by: EmbeddedCa = node) =>
      await by.authority.hold({ serialNumber, heldBy: ADMIN });
    const release = async (serialNumber: bigint, by: EmbeddedCa = node) =>
      await by.authority.release({ serialNumber, releasedBy: ADMIN });
    const readList = async (id = ca.intermediate.id) =>
      readRevocationList(await node.lists.read(id));

    it('signs an empty CRL at first, and renews it after half of its validity', async () => {
      await expect(node.lists.read(ca.intermediate.id)).rejects.toMatchObject({
        name: 'AuthorityUnavailableError',
      });
      await node.maintain();
      const first = await readList();
      expect(first).toMatchObject({ number: 1, entries: [] });
      ca.clockAheadMs = 3.4 * DAY_MS;
      await node.maintain();
      expect(await readList()).toEqual(first);
      ca.clockAheadMs = 3.6 * DAY_MS;
      await node.maintain();
      const second = await readList();
      expect(second.number).toBe(2);
      expect(second.nextUpdate.getTime()).toBeGreaterThan(
        first.nextUpdate.getTime(),
      );
    });

    it('signs a CRL for each change, and keeps the first revocation', async () => {
      const serialNumber = await issue();
      const revoked = await revoke(serialNumber);
      expect(await readList()).toMatchObject({
        number: 1,
        entries: [{ serialNumber, reason: 'Superseded' }],
      });
      ca.clockAheadMs = 60_000;
      expect((await revoke(serialNumber))?.revocation).toEqual(
        revoked?.revocation,
      );
      expect((await readList()).number).toBe(1);
      expect(revoked?.revocation).toEqual({
        reason: 4,
        revokedAt: expect.any(Date),
      });
    });

    it('lists a hold until it is released', async () => {
      const serialNumber = await issue();
      await hold(serialNumber);
      expect(await readList()).toMatchObject({
        number: 1,
        entries: [{ serialNumber, reason: 'Certificate Hold' }],
      });
      await release(serialNumber);
      expect(await readList()).toMatchObject({ number: 2, entries: [] });
      await release(serialNumber);
      expect((await readList()).number).toBe(2);
      expect(
        (await node.authority.get(serialNumber))?.revocation,
      ).toBeUndefined();
    });

    it('replaces a hold permanently with a revocation of the same date', async () => {
      const serialNumber = await issue();
      const held = await hold(serialNumber);
      ca.clockAheadMs = DAY_MS;
      const revoked = await revoke(serialNumber);
      expect(held?.revocation?.reason).toBe(6);
      expect(revoked?.revocation).toEqual({
        reason: 4,
        revokedAt: held?.revocation?.revokedAt,
      });
      await release(serialNumber);
      await hold(serialNumber);
      expect(await readList()).toMatchObject({
        entries: [{ serialNumber, reason: 'Superseded' }],
      });
    });

    it('ignores unknown serial numbers', async () => {
      expect(await revoke(42n)).toBeUndefined();
      expect(await hold(42n)).toBeUndefined();
      expect(await release(42n)).toBeUndefined();
      await node.maintain();
      expect((await readList()).entries).toEqual([]);
    });

    it('does not lose changes when instances record and sign them concurrently', async () => {
      const other = await ca.open();
      const serialNumbers = await Promise.all(
        Array.from({ length: 20 }, () => issue()),
      );
      await Promise.all(
        serialNumbers.map(async (serialNumber, index) => {
          const by = [node, other][index % 2];
          await hold(serialNumber, by);
          // One third is revoked, one third released, and one third stays on
          // hold.
          await [revoke, release, hold][index % 3](serialNumber, by);
        }),
      );
      await node.maintain();
      const list = await readList();
      const expected = serialNumbers.flatMap((serialNumber, index) =>
        index % 3 === 1
          ? []
          : [
              [
                serialNumber,
                index % 3 === 0 ? 'Superseded' : 'Certificate Hold',
              ],
            ],
      );
      expect(
        new Map(list.entries.map(entry => [entry.serialNumber, entry.reason])),
      ).toEqual(new Map(expected as [bigint, string][]));
      expect(list.number).toBeLessThanOrEqual(40);
    });

    it('revokes a certificate that is held and released at the same time', async () => {
      const other = await ca.open();
      const serialNumbers = await Promise.all(
        Array.from({ length: 10 }, () => issue()),
      );
      await Promise.all(
        serialNumbers.flatMap(serialNumber => [
          hold(serialNumber),
          release(serialNumber, other),
          revoke(serialNumber),
          hold(serialNumber, other),
          release(serialNumber),
        ]),
      );
      await node.maintain();
      const list = await readList();
      expect(new Set(list.entries.map(entry => entry.serialNumber))).toEqual(
        new Set(serialNumbers),
      );
      expect(list.entries.map(entry => entry.reason)).toEqual(
        serialNumbers.map(() => 'Superseded'),
      );
    });

    it('removes an expired certificate after one more CRL that lists it', async () => {
      const serialNumber = await issue();
      await revoke(serialNumber);
      ca.clockAheadMs = 31 * DAY_MS;
      await node.maintain();
      expect((await readList()).entries).toMatchObject([{ serialNumber }]);
      ca.clockAheadMs = 38 * DAY_MS;
      await node.maintain();
      expect(await readList()).toMatchObject({ number: 3, entries: [] });
    });

    it('records a change without a signer, and signs the CRL later', async () => {
      const serialNumber = await issue();
      await node.maintain();
      const { keyFile } = ca.intermediate.files;
      await rename(keyFile, `${keyFile}.away`);
      const keyless = await ca.open();
      expect(await revoke(serialNumber, keyless)).toMatchObject({
        revocation: { reason: 4 },
      });
      expect(ca.logger.lines.at(-1)).toMatch(/the CRL was not renewed/);
      expect(await keyless.lists.read(ca.intermediate.id)).toEqual(
        await node.lists.read(ca.intermediate.id),
      );
      await keyless.maintain();
      await rename(`${keyFile}.away`, keyFile);
      await keyless.maintain();
      expect((await readList()).entries).toMatchObject([{ serialNumber }]);
    });

    it('rolls over to another root, and signs the CRLs of both issuers', async () => {
      const before = await issue();
      const root = await TestRoot.create(ca.folder, { name: 'New root' });
      const next = await root.createIntermediate('New authority');
      const issuers = [next.files, ca.intermediate.files].map(files => ({
        chainFile: files.chainFile,
        keyFile: files.keyFile,
      }));
      const rolled = await ca.open({ issuers });
      const issued = await rolled.authority.sign(aliceRequest());
      expect(issued.chain.slice(1)).toEqual([
        next.certificate,
        root.certificate,
      ]);
      const old = await rolled.authority.get(before);
      expect(old?.chain.slice(1)).toEqual([
        ca.intermediate.certificate,
        ca.root.certificate,
      ]);
      await revoke(before, rolled);
      await hold(serialNumberOf(issued), rolled);
      expect((await readList()).entries).toMatchObject([
        { serialNumber: before, reason: 'Superseded' },
      ]);
      expect((await readList(next.id)).entries).toMatchObject([
        { serialNumber: serialNumberOf(issued), reason: 'Certificate Hold' },
      ]);

      // The old issuer's key is lost: the new issuer still signs.
      await node.issuers.close();
      await rename(issuers[1].keyFile, `${issuers[1].keyFile}.away`);
      const partial = await ca.open({ issuers });
      const later = await issue(partial);
      await revoke(later, partial);
      expect((await readList(next.id)).entries).toHaveLength(2);
      expect(partial.issuers.available).toBeDefined();
    });
  });
}
