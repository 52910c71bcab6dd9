// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.alterTable('directory_changes', table => {
    table
      .integer('modifier_id')
      .nullable()
      .comment('User who has made the change; null when it is not known');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.alterTable('directory_changes', table => {
    table.dropColumn('modifier_id');
  });
};
