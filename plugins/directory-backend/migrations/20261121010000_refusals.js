// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_refusals', table => {
    table.comment('Replaced by directory_quarantines');
    table
      .uuid('process_id')
      .primary()
      .comment('Random, generated at the start');
    table
      .text('refusal')
      .notNullable()
      .comment('Why the process rejected the directory');
    table
      .timestamp('seen_at')
      .notNullable()
      .comment('Renewed; an old row is of a process that ended');
    table
      .timestamp('accepted_at')
      .nullable()
      .comment('When an administrator accepted it');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_refusals');
};
