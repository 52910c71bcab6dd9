// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('embedded_ca_authorities', table => {
    table.comment('CAs, without their keys');
    table
      .string('id', 64)
      .primary()
      .comment('SHA-256 of the SubjectPublicKeyInfo, lower-case hex');
    table
      .text('chain')
      .notNullable()
      .comment('PEM: the CA certificate and its issuers');
    table.timestamp('created_at').notNullable();
    table
      .integer('changes')
      .notNullable()
      .defaultTo(0)
      .comment('Number of revocations, holds and releases');
    table.binary('crl').nullable().comment('The last CRL, DER');
    table
      .string('crl_number', 49)
      .notNullable()
      .defaultTo('0')
      .comment('Decimal');
    table
      .integer('crl_changes')
      .notNullable()
      .defaultTo(0)
      .comment('Number of changes when the CRL was signed');
    table.timestamp('crl_this_update').nullable();
    table.timestamp('crl_next_update').nullable();
  });

  await knex.schema.createTable('embedded_ca_certificates', table => {
    table.comment('Serial numbers and their certificates');
    // No numeric type in both databases has 127 bits.
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
      .comment('User name, or service without its realm');
    table
      .string('request_key', 64)
      .nullable()
      .unique()
      .comment(
        'Value that repeated requests have in common; null for old requests',
      );
    table.timestamp('reserved_at').notNullable();
    table.timestamp('not_before').notNullable();
    table.timestamp('not_after').notNullable().index();
    table
      .binary('certificate')
      .nullable()
      .comment('DER; null: the serial number is only reserved');
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
