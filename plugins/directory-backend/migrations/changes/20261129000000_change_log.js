// @ts-check
const { randomUUID } = require('node:crypto');

/**
 * The tables of 0.2.0 stay, so that 0.2.0 can run on the database again. Its
 * lease row is shared, so that one process writes at a time.
 *
 * @param {import('knex').Knex} knex
 */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_change_log', table => {
    table.comment('State of the change log: one row');
    table.integer('id').primary();
    table.uuid('log_id').notNullable().comment('Random, of cursors');
    table
      .text('definition')
      .notNullable()
      .comment('SHA-256 of what determines the entries and their digests');
    table
      .boolean('is_complete')
      .notNullable()
      .comment('Whether all entries are recorded: events are logged from then');
    table.bigInteger('fence').notNullable().comment('Last lease');
    table.bigInteger('first_id').notNullable().comment('Lowest valid cursor');
    table.bigInteger('last_id').notNullable().comment('Last event');
    table.text('server').nullable().comment('Server of the last write');
    table.text('position').nullable().comment('Position of that server');
  });
  await knex.schema.createTable('directory_change_events', table => {
    table.comment('Changes of users, groups and memberships, in commit order');
    table.bigInteger('id').primary();
    table.timestamp('time').notNullable().index();
    table.string('kind', 20).notNullable();
    table.text('entry_id').notNullable().index().comment('Stable ID');
    table.text('name').notNullable().comment('At the time of the change');
    table.text('old_name').nullable();
    table.string('member_kind', 5).nullable().comment('user or group');
    table.text('member_id').nullable().index().comment('Stable ID');
    table.text('member_name').nullable();
    table.text('server').notNullable().comment('Where the change was read');
    table.text('position').notNullable().comment('Position of that server');
  });
  await knex.schema.createTable('directory_known_entries', table => {
    table.comment('Users and groups as the change log last recorded them');
    table.text('id').primary().comment('Stable ID');
    table.string('kind', 5).notNullable().comment('user or group');
    table.text('name').nullable().comment('null: a group that is not served');
    table.boolean('locked').notNullable();
    table.text('salt').notNullable().comment('Random, of the digest');
    table.text('digest').notNullable().comment('SHA-256 of public values');
    table.index(['name'], 'directory_known_entries_name');
  });
  await knex.schema.createTable('directory_known_members', table => {
    table.comment('Direct members of all groups');
    table.text('member_id').notNullable();
    table.text('group_id').notNullable().index();
    table.timestamp('since').nullable().comment('null: before the first run');
    table.primary(['member_id', 'group_id']);
  });
  await adoptLog(knex);
};

/**
 * Copies what 0.2.0 has recorded. The first run replaces the ID of the log, so
 * that cursors of 0.2.0 expire.
 *
 * @param {import('knex').Knex} knex
 */
async function adoptLog(knex) {
  await knex('directory_change_writer')
    .insert({
      id: 1,
      log_id: randomUUID(),
      fence: 0,
      expires_at: new Date(0),
      first_id: 0,
      last_id: 0,
      last_entry_id: 0,
      is_complete: false,
    })
    .onConflict('id')
    .ignore();
  const idOf = entry =>
    `coalesce(${entry}.unique_id, ${entry}.key, 'deleted ' || ${entry}.id)`;
  await knex.raw(
    `insert into directory_known_entries
       (id, kind, name, locked, salt, digest)
     select ${idOf('e')}, e.kind, e.name, e.locked, '', ''
     from directory_change_entries e
     where e.key is not null
     on conflict do nothing`,
  );
  await knex.raw(
    `insert into directory_known_members (member_id, group_id, since)
     select ${idOf('m')}, ${idOf('g')},
       (select max(c.time) from directory_changes c
        where c.kind = 'member_added'
          and c.entry_id = g.id and c.member_id = m.id)
     from directory_change_members e
     join directory_change_entries g on g.id = e.group_id
     join directory_change_entries m on m.id = e.member_id
     where g.key is not null and m.key is not null
     on conflict do nothing`,
  );
  await knex.raw(
    `insert into directory_change_events
       (id, time, kind, entry_id, name, old_name,
        member_kind, member_id, member_name, server, position)
     select c.id, c.time, c.kind, ${idOf('e')}, c.name, c.old_name,
       m.kind, case when m.id is null then null else ${idOf('m')} end,
       c.member_name, '', ''
     from directory_changes c
     join directory_change_entries e on e.id = c.entry_id
     left join directory_change_entries m on m.id = c.member_id`,
  );
  const { last_id } = await knex('directory_change_writer').first('last_id');
  await knex('directory_change_log').insert({
    id: 1,
    log_id: randomUUID(),
    definition: '',
    is_complete: false,
    fence: 0,
    first_id: last_id,
    last_id,
  });
}

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_known_members');
  await knex.schema.dropTable('directory_known_entries');
  await knex.schema.dropTable('directory_change_events');
  await knex.schema.dropTable('directory_change_log');
};
