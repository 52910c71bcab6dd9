import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { CertificateDescription } from '@directory-gateway/x509';
import { randomUUID } from 'node:crypto';
import { openAuthorities } from '../../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../../__testUtils__/certificates/PermissiveAuthority';
import { withDatabases } from '../../__testUtils__/withDatabases';
import { openDatabase } from '../../openDatabase';
import { CertificateOwners } from './CertificateOwners';
import { type CertificateRow, RECORDS } from './certificateRows';
import type { Reservation } from './Reservations';

jest.setTimeout(120_000);

const DAY_MS = 24 * 60 * 60_000;
/** Another issuer than that of the certificates. */
const ISSUER = 'a'.repeat(64);
const databases = withDatabases();

/** A CA without records. */
async function open(client: Database) {
  const database = await openDatabase({ getClient: async () => client });
  const permissive = new PermissiveAuthority();
  permissive.choosesSerialNumbers = false;
  const { cacn } = permissive;
  const own = { cacn, sign: permissive.sign.bind(permissive) };
  const opened = openAuthorities(database, { own });
  return {
    ...opened,
    database,
    permissive,
    /** What the CA reads. */
    revocations: opened.records.revocationsOf('own'),
  };
}

describe.each(databases)(
  'records of certificates in %s',
  (_name, withClient) => {
    it('records concurrent requests, each with its own serial number', () =>
      withClient(async client => {
        const { authorities, issue } = await open(client);
        const owners = Array.from({ length: 100 }, (_, n) => ({
          username: `user${n}`,
          stableId: `id${n}`,
        }));
        const issued = await Promise.all(owners.map(owner => issue({ owner })));
        expect(new Set(issued.map(each => each.serialNumber)).size).toBe(100);
        for (const [index, { serialNumber }] of issued.entries()) {
          expect(await authorities.get(serialNumber)).toMatchObject({
            authority: 'own',
            cacn: 'permissive',
            owners: [owners[index].username],
            record: { profile: 'userCerts' },
            revocation: undefined,
          });
        }
        const first = await authorities.get(issued[0].serialNumber);
        expect(first?.chain).toHaveLength(2);
        expect(first?.chain[0]).toEqual(first?.certificate.der);
      }));

    it('returns the certificate of a request that is repeated within a minute', () =>
      withClient(async client => {
        const { database, issue, revocations } = await open(client);
        const requestKey = 'a';
        const first = await issue({ requestKey });
        expect(await issue({ requestKey })).toEqual(first);
        await database(RECORDS).update({
          reserved_at: new Date(Date.now() - 61_000),
        });
        const second = await issue({ requestKey });
        expect(second.serialNumber).not.toBe(first.serialNumber);
        await revocations.set(second.serialNumber, ISSUER, {
          reason: 4,
          revokedAt: new Date(),
        });
        const third = await issue({ requestKey });
        expect(third.serialNumber).not.toBe(second.serialNumber);
      }));

    it('gives a concurrent repetition the same certificate', () =>
      withClient(async client => {
        const { issue, records } = await open(client);
        const requestKey = 'a';
        const issued = await Promise.all([
          issue({ requestKey }),
          issue({ requestKey }),
        ]);
        expect(new Set(issued.map(each => each.serialNumber)).size).toBe(1);
        const owner = { username: 'alice', stableId: 'ipaUniqueID=1' };
        expect(await records.countUnexpired(owner)).toBe(1);
      }));

    it('replaces the record of another certificate with the same serial number', () =>
      withClient(async client => {
        const { issue, records, reservations, permissive } = await open(client);
        const first = await issue({ label: 'old' });
        const again = {
          authority: 'own',
          choosesSerialNumbers: true,
          owner: { username: 'bob', stableId: 'ipaUniqueID=2' },
          profile: 'vpn',
          publicKeySha256: 'b'.repeat(64),
          requestedBy: 'bob',
        };
        const find = () => records.find(first.serialNumber);
        const record = async (label: string, publicKeySha256: string) => {
          const reserved = await reservations.reserve({
            ...again,
            requestKey: label,
            label,
          });
          const signed = (await permissive.get(first.serialNumber))!;
          const { description } = signed.certificate;
          await reservations.record(reserved as Reservation, signed, {
            ...(description.ok && description.certificate),
            publicKey: { sha256: publicKeySha256 },
          } as CertificateDescription);
        };
        await record('new', first.publicKeySha256);
        expect(await find()).toEqual([{ ...first, label: 'new' }]);
        await record('newer', 'b'.repeat(64));
        expect(await find()).toMatchObject([
          { username: 'bob', profile: 'vpn', label: 'newer' },
        ]);
        expect(await reservations.listReserved({ before: new Date() })).toEqual(
          [],
        );
      }));

    it('records revocations permanently, and holds until they end', () =>
      withClient(async client => {
        const { issue, records, revocations } = await open(client);
        const { serialNumber, ...record } = await issue();
        const at = (second: number) => new Date(1.8e12 + second * 1000);
        const set = async (reason?: number, second = 0) => {
          const change = reason && { reason, revokedAt: at(second) };
          const revocation = await revocations.set(
            serialNumber,
            ISSUER,
            change || undefined,
          );
          return revocation && [revocation.reason, revocation.revokedAt];
        };
        expect(await set()).toBeUndefined();
        const held = [6, at(1)];
        expect(await set(6, 1)).toEqual(held);
        expect(await set(6, 2)).toEqual(held);
        expect(await set()).toBeUndefined();
        expect(
          (await records.find(serialNumber))[0].revocation,
        ).toBeUndefined();
        await set(6, 3);
        // A revocation keeps the date of the hold.
        expect(await set(1, 4)).toEqual([1, at(3)]);
        for (const reason of [undefined, 6, 4]) {
          expect(await set(reason, 5)).toEqual([1, at(3)]);
        }
        const issuer = (await revocations.findIssuer(serialNumber))!.issuer!;
        expect(issuer).toMatch(/^[0-9a-f]{64}$/);
        expect(issuer).not.toBe(ISSUER);
        expect(await revocations.findIssuer(1n)).toBeUndefined();
        const revoked = { serialNumber, reason: 1, revokedAt: at(3) };
        const list = (notExpiredAt: Date) =>
          revocations.list(issuer, { notExpiredAt });
        expect(await list(record.notAfter)).toEqual([revoked]);
        const later = new Date(record.notAfter.getTime() + 1000);
        expect(await list(later)).toEqual([]);
        expect(await revocations.set(1n, ISSUER, revoked)).toBeUndefined();
      }));

    it('imports revocations that a restored database lacks', () =>
      withClient(async client => {
        const { issue, records, revocations } = await open(client);
        const [known, held] = [await issue(), await issue()];
        const revokedAt = new Date(1.8e12);
        await revocations.set(held.serialNumber, ISSUER, {
          reason: 6,
          revokedAt,
        });
        const found = await revocations.findIssuer(known.serialNumber);
        const issuer = found!.issuer!;
        const lost = [known.serialNumber, held.serialNumber, 42n].map(
          serialNumber => ({ serialNumber, reason: 4, revokedAt }),
        );
        expect(await revocations.import(issuer, lost)).toBe(3);
        expect(await revocations.import(issuer, lost)).toBe(0);
        const listed = await revocations.list(issuer, {
          notExpiredAt: new Date(),
        });
        const bySerial = (a: { serialNumber: bigint }, b: typeof a) =>
          a.serialNumber < b.serialNumber ? -1 : 1;
        expect(listed.toSorted(bySerial)).toEqual(lost.toSorted(bySerial));
        expect(await records.find(42n)).toEqual([]);
      }));

    it('imports the revocation of a certificate that was abandoned', () =>
      withClient(async client => {
        const { database, issue, revocations } = await open(client);
        const { id, serialNumber } = await issue();
        await database(RECORDS)
          .where({ id })
          .update({ state: 'abandoned', certificate: null, recorded_at: null });
        const revoked = {
          serialNumber,
          reason: 4,
          revokedAt: new Date(1.8e12),
        };
        expect(await revocations.import(ISSUER, [revoked])).toBe(1);
        const [row] = await database(RECORDS);
        expect(row.state).toBe('revoked');
        const notExpiredAt = new Date();
        expect(await revocations.list(row.issuer, { notExpiredAt })).toEqual([
          revoked,
        ]);
      }));

    it('does not change a certificate of another CA with the same serial number', () =>
      withClient(async client => {
        const { database, issue, revocations } = await open(client);
        const { id, serialNumber } = await issue();
        const row: CertificateRow = await database(RECORDS).first();
        const other = { ...row, id: randomUUID(), authority: 'other' };
        await database(RECORDS).insert({ ...other, request_key: null });
        const revoked = {
          serialNumber,
          reason: 4,
          revokedAt: new Date(1.8e12),
        };
        expect(await revocations.import(row.issuer!, [revoked])).toBe(1);
        expect(
          await database(RECORDS).where({ state: 'revoked' }).pluck('id'),
        ).toEqual([id]);
        const { authority } = other;
        await database(RECORDS).where({ id }).delete();
        expect(await revocations.findIssuer(serialNumber)).toBeUndefined();
        expect(await revocations.set(serialNumber, ISSUER, revoked)).toBe(
          undefined,
        );
        expect(await database(RECORDS)).toMatchObject([
          { authority, state: 'valid' },
        ]);
      }));

    it('finds certificates of an account by its ID, across renames', () =>
      withClient(async client => {
        const { database, issue, records, revocations } = await open(client);
        const owner = { username: 'married', stableId: 'id1' };
        const usable = await issue({ owner: { ...owner, username: 'alice' } });
        const revoked = await issue({ owner });
        await revocations.set(revoked.serialNumber, ISSUER, {
          reason: 4,
          revokedAt: new Date(),
        });
        // Another account gets the name.
        await issue({ owner: { username: 'alice', stableId: 'id2' } });
        const unread = await issue({ owner: { username: 'married' } });
        const list = async (authorities: string[]) => {
          const listed = await records.listUsable([owner], { authorities });
          return [...listed.values()].flat();
        };
        expect(await list(['own'])).toEqual([
          usable.certificate!.der,
          unread.certificate!.der,
        ]);
        expect(await list(['other'])).toEqual([]);
        const all = await records.listOf(owner);
        expect(all.map(({ id }) => id).toSorted()).toEqual(
          [usable, revoked, unread].map(({ id }) => id).toSorted(),
        );
        expect(await records.countUnexpired(owner)).toBe(3);
        await database(RECORDS)
          .where({ id: usable.id })
          .update({ not_after: new Date(Date.now() - 1000) });
        expect(await records.countUnexpired(owner)).toBe(2);
        expect(await list(['own'])).toEqual([unread.certificate!.der]);
      }));

    it('lists certificates that expire in an interval', () =>
      withClient(async client => {
        const { issue, records, revocations } = await open(client);
        const { notAfter: from, serialNumber } = await issue();
        const later = new Date(from.getTime() + 1000);
        const find = async (start: Date, before: Date) =>
          (await records.listExpiring({ from: start, before })).length;
        expect(await find(from, later)).toBe(1);
        expect(await find(later, new Date(later.getTime() + 1))).toBe(0);
        expect(await find(new Date(0), from)).toBe(0);
        await revocations.set(serialNumber, ISSUER, {
          reason: 6,
          revokedAt: new Date(),
        });
        expect(await find(from, later)).toBe(0);
      }));

    it('deletes certificates that expired 90 days ago', () =>
      withClient(async client => {
        const { database, issue, records } = await open(client);
        const kept = await issue();
        const removed = await issue();
        for (const [{ id }, days] of [
          [kept, 89],
          [removed, 91],
        ] as const) {
          await database(RECORDS)
            .where({ id })
            .update({ not_after: new Date(Date.now() - days * DAY_MS) });
        }
        await records.deleteExpired();
        expect(await database(RECORDS).pluck('id')).toEqual([kept.id]);
      }));

    it('knows the accounts with certificates, also from other processes', () =>
      withClient(async client => {
        const { database, issue, records, reservations } = await open(client);
        const others = await open(client);
        let now = Date.now();
        const owners = new CertificateOwners({
          records,
          reservations,
          authorities: () => ['own'],
          logger: new RecordingLogger(),
          now: () => now,
        });
        const has = (username: string) =>
          owners.has({ username, stableId: username });
        const issueFor = (name: string, by = issue) =>
          by({ owner: { username: name, stableId: name } });
        expect(has('nobody')).toBe(true);
        await issueFor('before');
        await owners.poll();
        expect(['before', 'nobody'].map(has)).toEqual([true, false]);
        await issueFor('own');
        expect(has('own')).toBe(true);

        await issueFor('other', others.issue);
        const late = await issueFor('late', others.issue);
        // The transaction of this one commits 20 seconds later.
        const row: CertificateRow = await database(RECORDS)
          .where({ id: late.id })
          .first();
        await database(RECORDS).where({ id: late.id }).delete();
        now += 1000;
        await owners.poll();
        expect(['before', 'own', 'other', 'late'].map(has)).toEqual([
          ...[true, true, true],
          false,
        ]);
        for (let second = 0; second < 19; second++) {
          now += 1000;
          await owners.poll();
        }
        await database(RECORDS).insert(row);
        now += 1000;
        await owners.poll();
        expect(['before', 'own', 'other', 'late', 'nobody'].map(has)).toEqual([
          ...[true, true, true, true],
          false,
        ]);

        await database(RECORDS).where({ username: 'before' }).delete();
        now += 60_000;
        expect(has('nobody')).toBe(true);
        await owners.poll();
        expect(['before', 'late'].map(has)).toEqual([false, true]);

        // A released certificate is listed at once.
        await database(RECORDS)
          .where({ username: 'late' })
          .update({ state: 'held' });
        now += 60_000;
        await owners.poll();
        expect(has('late')).toBe(true);
      }));
  },
);
