import { resolvePackagePath } from '@backstage/backend-plugin-api';
import {
  type Database,
  migrateDatabase,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { type Certificate, writePem } from '@directory-gateway/x509';
import { openAuthorities } from '../../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../../__testUtils__/certificates/PermissiveAuthority';
import { withDatabases } from '../../__testUtils__/withDatabases';
import { migrationsTable, openDatabase } from '../../openDatabase';
import { BlockedKeys } from '../BlockedKeys';
import { type CertificateRow, RECORDS } from './certificateRows';
import { importRecords } from './importRecords';

jest.setTimeout(120_000);

const DAY_MS = 24 * 60 * 60_000;
const AT = new Date(Date.now() - 10 * DAY_MS);
const NOT_AFTER = new Date(Date.now() + 20 * DAY_MS);
const ISSUER = 'a'.repeat(64);
const KEY = Buffer.from('key');

const databases = withDatabases();

/** Runs the migrations of 0.2.0. */
async function migrateAsBefore(database: Database): Promise<void> {
  await migrateDatabase({
    database,
    directory: resolvePackagePath(
      '@directory-gateway/backstage-plugin-directory-backend',
      'migrations',
    ),
    tableName: migrationsTable,
  });
  await migrateDatabase({
    database,
    directory: resolvePackagePath(
      '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca',
      'migrations',
    ),
    tableName: 'embedded_ca_migrations',
  });
  await database.raw(
    `create table if not exists directory_signing_limits (
      key varchar(255) primary key,
      points integer not null default 0,
      expire bigint
    )`,
  );
}

/** Signs certificates with one key each. */
async function sign(count: number) {
  const ca = new PermissiveAuthority();
  const signed = Array.from({ length: count }, () =>
    ca.sign(
      createSigningRequest({
        username: 'alice',
        principal: 'alice@EXAMPLE.TEST',
        profile: 'userCerts',
      }),
    ),
  );
  return (await Promise.all(signed)).map(({ certificate, chain }) => ({
    ...descriptionOf(certificate),
    der: certificate.der,
    chain: chain.slice(1),
  }));
}

function descriptionOf({ description }: Certificate) {
  if (!description.ok) {
    throw new Error(description.message);
  }
  const { publicKey, serialNumber } = description.certificate;
  return { serial: String(serialNumber), keyHash: publicKey.sha256 };
}

type Signed = Awaited<ReturnType<typeof sign>>[number];

/** Columns of a certificate of the embedded CA. */
const embedded = ({ der, serial }: Signed, change: object = {}) => ({
  serial_number: serial,
  authority_id: ISSUER,
  username: 'alice',
  profile: 'userCerts',
  requested_by: 'alice',
  reserved_at: AT,
  not_before: AT,
  not_after: NOT_AFTER,
  certificate: der,
  ...change,
});

/** Columns of a certificate that the gateway has recorded. */
const recorded = (serial_number: string, change: object = {}) => ({
  serial_number,
  username: 'alice',
  subject_id: 'ipaUniqueID=1',
  profile: 'userCerts',
  public_key: KEY,
  not_after: NOT_AFTER,
  recorded_at: AT,
  is_renewed_by_key: false,
  is_revoked: false,
  ...change,
});

const revokedAt = (reason: number) => ({
  revoked_at: AT,
  revocation_reason: reason,
  revoked_by: 'admin',
});

/** Fills the tables as 0.2.0 did. */
async function fillAsBefore(database: Database, signed: readonly Signed[]) {
  const [valid, revoked, held, unknown] = signed;
  await database('embedded_ca_authorities').insert({
    id: ISSUER,
    chain: valid.chain.map(der => writePem('CERTIFICATE', der)).join(''),
    created_at: AT,
  });
  await database('embedded_ca_certificates').insert([
    embedded(valid),
    embedded(revoked, revokedAt(1)),
    embedded(held, revokedAt(6)),
    embedded(unknown),
    // A process of 0.2.0 was killed before it signed this one.
    embedded({ ...unknown, serial: '9' }, { certificate: null }),
  ]);
  await database('directory_certificates').insert([
    recorded(valid.serial, { label: 'laptop' }),
    recorded(revoked.serial),
    recorded(held.serial),
    // The embedded CA issued it, but it has not been imported.
    recorded('9'),
    // FreeIPA issued these.
    recorded('11'),
    recorded('12', { is_revoked: true }),
    recorded('13', { renewed_from: '11', is_renewed_by_key: true }),
    recorded('14', { not_after: new Date(Date.now() - 91 * DAY_MS) }),
  ]);
  await database('directory_certificate_holds').insert(
    [held.serial, '13'].map(serial_number => ({
      serial_number,
      cause: 'locked',
      caused_at: AT,
      held_at: AT,
      is_confirmed: true,
      ended_at: serial_number === '13' ? AT : null,
    })),
  );
  await database('directory_blocked_keys').insert({
    public_key_sha256: revoked.keyHash,
    serial_number: revoked.serial,
    blocked_by: 'admin',
    blocked_at: AT,
  });
  await database('directory_signing_limits').insert({
    key: 'alice',
    points: 7,
    expire: NOT_AFTER.getTime(),
  });
}

/** Opens the database as each start of 0.3.0 does. */
async function start(client: Database): Promise<Database> {
  const database = await openDatabase({ getClient: async () => client });
  await importRecords(database);
  return database;
}

const rowsOf = (database: Database): Promise<CertificateRow[]> =>
  database(RECORDS).orderBy('serial_number');

describe.each(databases)('a database of 0.2.0 in %s', (_name, withClient) => {
  it('keeps certificates, revocations, holds, blocked keys and limits', () =>
    withClient(async client => {
      await migrateAsBefore(client);
      const signed = await sign(5);
      const [valid, revoked, held, unknown, later] = signed;
      await fillAsBefore(client, signed);
      const [database] = await Promise.all([start(client), start(client)]);
      const rows = await rowsOf(database);
      const row = (serial: string) =>
        rows.find(each => each.serial_number === serial);
      expect(rows).toHaveLength(7);
      expect(row(valid.serial)).toMatchObject({
        authority: 'embedded',
        issuer: ISSUER,
        certificate: valid.der,
        public_key_sha256: valid.keyHash,
        subject_id: 'ipaUniqueID=1',
        label: 'laptop',
        state: 'valid',
      });
      expect(row(revoked.serial)).toMatchObject({
        state: 'revoked',
        reason: 1,
        revoked_by: 'admin',
      });
      expect(row(held.serial)).toMatchObject({
        state: 'held',
        reason: 6,
        hold_cause: 'locked',
      });
      expect(row(unknown.serial)).toMatchObject({
        subject_id: null,
        state: 'valid',
        hold_cause: null,
      });
      expect(row('11')).toMatchObject({
        authority: 'freeipa',
        certificate: null,
        state: 'valid',
      });
      expect(row('12')).toMatchObject({ state: 'revoked' });
      expect(row('13')).toMatchObject({
        renewed_from: '11',
        hold_cause: null,
      });
      expect(Boolean(row('13')!.is_renewed_by_key)).toBe(true);
      expect(await new BlockedKeys(database).has(revoked.keyHash)).toBe(true);
      expect(await database('directory_signing_limits')).toMatchObject([
        { key: 'alice', points: 7 },
      ]);

      // A second start changes nothing.
      await start(client);
      expect(await rowsOf(database)).toEqual(rows);

      const opened = openAuthorities(database, {
        embedded: { cacn: 'Own', sign: async () => Promise.reject() },
      });
      const { authorities, records } = opened;
      const revocations = opened.records.revocationsOf('embedded');
      expect(await authorities.get(BigInt(valid.serial))).toMatchObject({
        cacn: 'Own',
        certificate: { der: valid.der },
        chain: [valid.der, ...valid.chain],
        owners: ['alice'],
        record: { label: 'laptop' },
      });
      const authority = 'freeipa';
      expect(
        await records.renewedByKeyOf({ authority, serialNumber: 11n }),
      ).toEqual([{ authority, serialNumber: 13n }]);
      const holds = await records.listLive([]);
      expect(holds).toMatchObject([
        {
          serialNumber: BigInt(held.serial),
          isHeld: true,
          hold: { cause: 'locked', at: AT },
        },
      ]);
      const revokedSerials = async () => {
        const notExpiredAt = new Date();
        const listed = await revocations.list(ISSUER, { notExpiredAt });
        return listed
          .map(({ serialNumber }) => String(serialNumber))
          .toSorted();
      };
      expect(await revokedSerials()).toEqual(
        [revoked.serial, held.serial].toSorted(),
      );

      // Changes are also made where 0.2.0 finds them, which can start again.
      const revocation = { reason: 4, revokedAt: new Date(1.8e12) };
      await revocations.set(BigInt(valid.serial), ISSUER, revocation);
      await revocations.set(BigInt(held.serial), ISSUER, undefined);
      await records.endHold(holds[0]);
      await migrateAsBefore(client);
      const old = async (serial_number: string) =>
        (await client('embedded_ca_certificates')
          .where({ serial_number })
          .first('revocation_reason', 'revoked_at')) as object;
      expect(await old(valid.serial)).toMatchObject({ revocation_reason: 4 });
      expect(await old(held.serial)).toEqual({
        revocation_reason: null,
        revoked_at: null,
      });

      expect(
        await client('directory_certificate_holds').whereNull('ended_at'),
      ).toEqual([]);

      // A process of 0.2.0 still runs.
      await client('embedded_ca_certificates').insert(embedded(later));
      await client('embedded_ca_certificates')
        .where({ serial_number: unknown.serial })
        .update(revokedAt(5));
      await client('directory_certificates').insert(recorded('15'));
      await importRecords(database);
      expect(await rowsOf(database)).toHaveLength(9);
      expect(await records.listLive(['ipaUniqueID=2'])).toEqual([]);
      expect(await revokedSerials()).toEqual(
        [revoked.serial, unknown.serial, valid.serial].toSorted(),
      );

      // It revokes a certificate whose hold ends before the next import.
      await revocations.set(BigInt(later.serial), ISSUER, {
        reason: 6,
        revokedAt: AT,
      });
      await client('embedded_ca_certificates')
        .where({ serial_number: later.serial })
        .update(revokedAt(1));
      await revocations.set(BigInt(later.serial), ISSUER, undefined);
      await importRecords(database);
      expect(await revokedSerials()).toContain(later.serial);
    }));
});

describe.each(databases)('an empty database in %s', (_name, withClient) => {
  it('is created once by two processes that start at the same time', () =>
    withClient(async client => {
      await Promise.all([start(client), start(client)]);
      const database = await start(client);
      expect(await rowsOf(database)).toEqual([]);
      expect(await database('directory_signing_limits')).toEqual([]);
    }));
});
