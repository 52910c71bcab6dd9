// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_certificates', table => {
    table.comment('Certificates that were issued through the gateway');
    table.text('serial_number').primary().comment('Decimal');
    table.text('username').notNullable().comment('Name when it was issued');
    table
      .text('subject_id')
      .nullable()
      .index()
      .comment('Account, across renames; null when it could not be read');
    table.text('profile').nullable().comment('Null when it is not known');
    table.text('label').nullable();
    table
      .binary('public_key')
      .notNullable()
      .comment('SubjectPublicKeyInfo, DER');
    table.timestamp('not_after').notNullable().index();
    table.timestamp('recorded_at').notNullable();
    table
      .text('lookup_server')
      .nullable()
      .comment(
        'LDAP server that had the account; null when holds depend on it no more',
      );
    table
      .text('renewed_from')
      .nullable()
      .index()
      .comment('Serial number of the certificate that it renews');
    table
      .boolean('is_renewed_by_key')
      .notNullable()
      .comment('Whether the key of that certificate has authorized it');
    table
      .boolean('is_revoked')
      .notNullable()
      .comment('Whether the CA has reported that it is revoked');
  });
  await knex.schema.createTable('directory_certificate_holds', table => {
    table.comment('Holds that the gateway has placed');
    table.increments('id');
    table.text('serial_number').notNullable().index();
    table.text('cause').notNullable().comment('locked or deleted');
    table.timestamp('caused_at').notNullable().comment('When it was found');
    table.timestamp('held_at').notNullable().index();
    table
      .boolean('is_confirmed')
      .notNullable()
      .comment('Whether the CA has returned that it is on hold');
    table.text('approval_id').nullable().index();
    table.timestamp('ended_at').nullable().comment('Released or revoked');
  });
  await knex.schema.createTable('directory_hold_approvals', table => {
    table.comment('Holds above the limit that an administrator has approved');
    table.text('id').primary();
    table.integer('count').notNullable();
    table.text('approved_by').notNullable();
    table.timestamp('expires_at').notNullable();
  });
  await knex.schema.createTable('directory_hold_state', table => {
    table.comment('State of the task that places holds: one row');
    table.integer('id').primary();
    table
      .text('position')
      .nullable()
      .comment('State of the directory at its last run, JSON');
    table.integer('waiting').notNullable().comment('Holds above the limit');
    table.timestamp('waiting_at').notNullable();
  });
  await knex('directory_hold_state').insert({
    id: 1,
    waiting: 0,
    waiting_at: new Date(0),
  });
  await knex.schema.createTable('directory_used_nonces', table => {
    table.comment('Nonces of accepted proofs of possession');
    table.text('nonce_sha256').primary().comment('Lower-case hex');
    table.timestamp('expires_at').notNullable().index();
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  for (const table of [
    'directory_certificates',
    'directory_certificate_holds',
    'directory_hold_approvals',
    'directory_hold_state',
    'directory_used_nonces',
  ]) {
    await knex.schema.dropTable(table);
  }
};
