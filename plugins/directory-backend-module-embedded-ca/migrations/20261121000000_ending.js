// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.alterTable('embedded_ca_certificates', table => {
    table.index('not_after');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.alterTable('embedded_ca_certificates', table => {
    table.dropIndex('not_after');
  });
};
