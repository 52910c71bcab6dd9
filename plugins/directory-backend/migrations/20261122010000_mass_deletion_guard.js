// @ts-check

const DIRECTORY_KEY =
  'SHA-256 of base DN and object classes, lower-case hex: counts of different directories cannot be compared';

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_guard_history', table => {
    table.comment('Highest counts of entries that syncs found in each hour');
    table.string('directory_key', 64).notNullable().comment(DIRECTORY_KEY);
    table.timestamp('hour').notNullable().comment('Start of the hour');
    table.integer('users').notNullable();
    table.integer('groups').notNullable();
    table.primary(['directory_key', 'hour']);
  });
  await knex.schema.createTable('directory_guard_overrides', table => {
    table.comment('Counts that an administrator has accepted');
    table.uuid('id').primary();
    table.string('directory_key', 64).notNullable().comment(DIRECTORY_KEY);
    table.integer('users').notNullable();
    table.integer('groups').notNullable();
    table.text('accepted_by').notNullable().comment('Principal or entity ref');
    table.timestamp('accepted_at').notNullable();
    table.timestamp('expires_at').notNullable();
  });
  await knex.schema.createTable('directory_quarantines', table => {
    table.comment('Processes whose last sync the mass-deletion guard rejected');
    table
      .uuid('process_id')
      .primary()
      .comment('Random, generated at the start');
    table.string('directory_key', 64).notNullable().comment(DIRECTORY_KEY);
    table.text('message').notNullable();
    table.integer('users').notNullable();
    table.integer('groups').notNullable();
    table
      .timestamp('seen_at')
      .notNullable()
      .comment('Renewed every second; an old row is of a process that ended');
  });
  await knex.schema.dropTable('directory_refusals');
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_quarantines');
  await knex.schema.dropTable('directory_guard_overrides');
  await knex.schema.dropTable('directory_guard_history');
  await knex.schema.createTable('directory_refusals', table => {
    table.uuid('process_id').primary();
    table.text('refusal').notNullable();
    table.timestamp('seen_at').notNullable();
    table.timestamp('accepted_at').nullable();
  });
};
