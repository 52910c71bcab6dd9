// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('embedded_ca_authorities', table => {
    table.comment('The authorities that have signed, without their keys');
    table
      .string('id', 64)
      .primary()
      .comment('SHA-256 of the SubjectPublicKeyInfo, lower-case hex');
    table
      .boolean('is_current')
      .nullable()
      .unique()
      .comment('true: it signs now; null: it has signed. Never false');
    table
      .text('chain')
      .notNullable()
      .comment('PEM: its certificate and those above it');
    table.timestamp('created_at').notNullable();
    table
      .integer('revocations')
      .notNullable()
      .defaultTo(0)
      .comment('How many of its certificates have been revoked, ever');
    table.binary('crl').nullable().comment('The last revocation list, DER');
    table.integer('crl_number').notNullable().defaultTo(0);
    table
      .integer('crl_revocations')
      .notNullable()
      .defaultTo(0)
      .comment('The value of revocations that the list knows');
    table.timestamp('crl_this_update').nullable();
    table.timestamp('crl_next_update').nullable();
  });

  await knex.schema.createTable('embedded_ca_certificates', table => {
    table.comment('Every serial number that was ever drawn');
    // 127 bits fit no number type of both databases.
    table.string('serial_number', 49).primary().comment('Decimal');
    table
      .string('authority_id', 64)
      .notNullable()
      .references('id')
      .inTable('embedded_ca_authorities');
    table.text('username').notNullable().index();
    table.text('profile').notNullable();
    table
      .text('requested_by')
      .notNullable()
      .comment('A user name, or a service without its realm');
    table
      .string('request_key', 64)
      .nullable()
      .unique()
      .comment('What a repeated request has in common; null when it is old');
    table.timestamp('reserved_at').notNullable();
    table.timestamp('not_before').notNullable();
    table.timestamp('not_after').notNullable();
    table
      .binary('certificate')
      .nullable()
      .comment('DER; null: reserved, and given to nobody');
    table.timestamp('revoked_at').nullable();
    table
      .integer('revocation_reason')
      .nullable()
      .comment('CRLReason, RFC 5280 section 5.3.1');
    table.text('revoked_by').nullable();
    table.index(['authority_id', 'revoked_at']);
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('embedded_ca_certificates');
  await knex.schema.dropTable('embedded_ca_authorities');
};
