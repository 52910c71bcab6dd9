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

  it('creates only the tables of the module, and only once', async () => {
    const { knex } = ca.database;
    await migrateDatabase(knex);
    await migrateDatabase(knex);
    expect(await knex('embedded_ca_migrations')).toHaveLength(1);
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
});
