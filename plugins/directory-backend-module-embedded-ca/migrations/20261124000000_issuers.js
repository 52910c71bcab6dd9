// @ts-check

const AUTHORITIES = 'embedded_ca_authorities';

// SQL of both databases. Knex would copy a table of SQLite, which has
// references to it.

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.alterTable(AUTHORITIES, table => {
    table.dropUnique(['is_current']);
  });
  for (const change of [
    'DROP COLUMN is_current',
    'DROP COLUMN crl_number',
    // Decimal, as serial numbers.
    "ADD COLUMN crl_number varchar(49) NOT NULL DEFAULT '0'",
    // Number of revocations, holds and releases, and those in the CRL.
    'RENAME COLUMN revocations TO changes',
    'RENAME COLUMN crl_revocations TO crl_changes',
  ]) {
    await knex.raw(`ALTER TABLE ${AUTHORITIES} ${change}`);
  }
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  for (const change of [
    'RENAME COLUMN changes TO revocations',
    'RENAME COLUMN crl_changes TO crl_revocations',
    'DROP COLUMN crl_number',
    'ADD COLUMN crl_number integer NOT NULL DEFAULT 0',
    'ADD COLUMN is_current boolean',
  ]) {
    await knex.raw(`ALTER TABLE ${AUTHORITIES} ${change}`);
  }
  await knex.schema.alterTable(AUTHORITIES, table => {
    table.unique(['is_current']);
  });
};
