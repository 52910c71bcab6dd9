import { TestCa } from './__testUtils__/TestCa';
import { sqlite } from './__testUtils__/TestDatabase';
import { migrateDatabase } from './module';
import { AUTHORITIES, CERTIFICATES } from './database/rows';

describe('migrateDatabase', () => {
  let ca: TestCa;

  beforeEach(async () => {
    ca = await TestCa.start(sqlite, { tables: 'none' });
  });

  afterEach(async () => {
    await ca.stop();
  });

  it('creates only its own tables, and only once', async () => {
    const { knex } = ca.database;
    await migrateDatabase(knex);
    await migrateDatabase(knex);
    expect(await knex('embedded_ca_migrations')).toHaveLength(3);
    expect(await knex('embedded_ca_migrations_lock')).toEqual([
      expect.objectContaining({ is_locked: 0 }),
    ]);
    expect(await knex.schema.hasTable('knex_migrations')).toBe(false);
  });

  it('can be rolled back', async () => {
    const { knex } = ca.database;
    await migrateDatabase(knex);
    await knex.migrate.rollback({
      directory: `${__dirname}/../migrations`,
      tableName: 'embedded_ca_migrations',
    });
    expect(await knex.schema.hasTable(CERTIFICATES)).toBe(false);
    expect(await knex.schema.hasTable(AUTHORITIES)).toBe(false);
  });

  it('keeps certificates when it changes the table of their issuers', async () => {
    const { knex } = ca.database;
    const migrations = {
      directory: `${__dirname}/../migrations`,
      tableName: 'embedded_ca_migrations',
    };
    await knex.raw('PRAGMA foreign_keys = ON');
    await migrateDatabase(knex);
    await knex(AUTHORITIES).insert({
      id: 'a',
      chain: '',
      created_at: new Date(),
    });
    await knex(CERTIFICATES).insert({
      serial_number: '1',
      authority_id: 'a',
      username: 'alice',
      profile: 'userCerts',
      requested_by: 'alice',
      reserved_at: new Date(),
      not_before: new Date(),
      not_after: new Date(),
    });
    await knex.migrate.down(migrations);
    expect(await knex(AUTHORITIES)).toMatchObject([
      { id: 'a', is_current: null, crl_number: 0, revocations: 0 },
    ]);
    await knex.migrate.up(migrations);
    expect(await knex(CERTIFICATES)).toHaveLength(1);
    expect(await knex(AUTHORITIES)).toMatchObject([
      { id: 'a', crl_number: '0', changes: 0, crl_changes: 0 },
    ]);
  });
});
