// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_refusals', table => {
    table.comment('Processes that do not believe the directory now');
    table.uuid('process_id').primary().comment('Drawn at its start');
    table.text('refusal').notNullable().comment('What it does not believe');
    table
      .timestamp('seen_at')
      .notNullable()
      .comment('Renewed while it refuses; when it is old the process has died');
    table
      .timestamp('accepted_at')
      .nullable()
      .comment('When an administrator has told another process to accept it');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_refusals');
};
