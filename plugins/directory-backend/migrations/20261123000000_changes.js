// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_change_writer', table => {
    table.comment('The process that writes the change log: one row');
    table.integer('id').primary();
    table.uuid('log_id').notNullable().comment('Random, of cursors');
    table.uuid('holder').nullable().comment('Random, of the process');
    table
      .bigInteger('fence')
      .notNullable()
      .comment('Number of the lease, which each append requires');
    table.timestamp('expires_at').notNullable().comment('End of the lease');
    table.bigInteger('first_id').notNullable().comment('Lowest valid cursor');
    table.bigInteger('last_id').notNullable().comment('Last change');
    table.integer('last_entry_id').notNullable();
    table
      .text('position')
      .nullable()
      .comment('JSON: what the replica had reached before the last append');
    table
      .boolean('is_complete')
      .notNullable()
      .comment(
        'Whether all entries are recorded: changes are logged from then',
      );
  });
  await knex.schema.createTable('directory_change_entries', table => {
    table.comment('Users and groups as the change log last recorded them');
    table.integer('id').primary();
    table.string('kind', 5).notNullable().comment('user or group');
    table
      .text('key')
      .nullable()
      .unique()
      .comment('Normalized DN; null after the deletion');
    table.text('unique_id').nullable().comment('ipaUniqueID');
    table.text('name').notNullable();
    table.boolean('locked').notNullable();
    table.text('digests').notNullable().comment('JSON: HMAC of each field');
    table.text('key_id').notNullable().comment('Id of the key of the digests');
    table.timestamp('deleted_at').nullable().index();
    table
      .boolean('is_pseudonym')
      .notNullable()
      .comment('Whether the name was replaced after the deletion');
  });
  await knex.schema.createTable('directory_change_members', table => {
    table.comment('Direct members of the recorded groups');
    table.integer('group_id').notNullable();
    table.integer('member_id').notNullable();
    table.primary(['group_id', 'member_id']);
  });
  await knex.schema.createTable('directory_changes', table => {
    table.comment('Changes of users, groups and memberships, in commit order');
    table.bigInteger('id').primary();
    table.timestamp('time').notNullable().index();
    table.string('kind', 20).notNullable();
    table.integer('entry_id').notNullable().index();
    table.text('name').notNullable().comment('At the time of the change');
    table.text('old_name').nullable();
    table.integer('member_id').nullable().index();
    table.text('member_name').nullable();
    table.text('fields').nullable().comment('JSON: names of changed fields');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_changes');
  await knex.schema.dropTable('directory_change_members');
  await knex.schema.dropTable('directory_change_entries');
  await knex.schema.dropTable('directory_change_writer');
};
