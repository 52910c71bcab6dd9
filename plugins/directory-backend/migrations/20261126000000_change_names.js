// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.alterTable('directory_change_entries', table => {
    table.index(['name'], 'directory_change_entries_name');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.alterTable('directory_change_entries', table => {
    table.dropIndex(['name'], 'directory_change_entries_name');
  });
};
