// @ts-check

const RECORDS = 'directory_certificate_records';

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable(RECORDS, table => {
    table.comment('Certificates of all CAs, and reserved serial numbers');
    table.uuid('id').primary();
    table.text('authority').notNullable().comment('Registered name of the CA');
    // Neither database has a number type of 160 bits.
    table
      .string('serial_number', 49)
      .nullable()
      .comment('Decimal; null: the CA has not chosen it yet');
    table
      .string('issuer', 64)
      .nullable()
      .comment("SHA-256 of the issuer's SubjectPublicKeyInfo, lower-case hex");
    table
      .string('public_key_sha256', 64)
      .nullable()
      .comment('SHA-256 of the SubjectPublicKeyInfo, lower-case hex');
    table
      .text('username')
      .nullable()
      .index()
      .comment('Name when it was issued; null: only its revocation is known');
    table
      .text('subject_id')
      .nullable()
      .index()
      .comment('Account, across renames; null when it could not be read');
    table.text('profile').nullable();
    table.text('label').nullable();
    table
      .string('state', 10)
      .notNullable()
      .comment('reserved, valid, held, revoked or abandoned');
    table
      .integer('reason')
      .nullable()
      .comment('CRLReason, RFC 5280 section 5.3.1');
    table.timestamp('revoked_at').nullable().comment('Revocation or hold');
    table.text('revoked_by').nullable();
    table
      .text('requested_by')
      .nullable()
      .comment('User name, or service without its realm');
    table
      .string('request_key', 64)
      .nullable()
      .unique()
      .comment('Value that repeated requests share; null for old requests');
    table
      .timestamp('reserved_at')
      .notNullable()
      .comment('Reservation, or the last attempt to continue it');
    table.timestamp('recorded_at').nullable().index();
    table
      .timestamp('not_before')
      .nullable()
      .comment('Of a reservation that was continued: the first attempt');
    table
      .timestamp('not_after')
      .nullable()
      .index()
      .comment('Of a reservation: the latest possible; null: not known');
    table
      .string('renewed_from', 49)
      .nullable()
      .index()
      .comment('Serial number of the certificate that it renews');
    table
      .boolean('is_renewed_by_key')
      .notNullable()
      .defaultTo(false)
      .comment('Whether 0.2.0 accepted the key of that certificate as proof');
    table
      .string('hold_cause', 7)
      .nullable()
      .comment('locked or deleted: the gateway has placed a hold');
    table.timestamp('hold_caused_at').nullable().comment('When it was found');
    // Last, because SQLite reads a row from its beginning.
    table
      .binary('certificate')
      .nullable()
      .comment('DER; null: only reserved, or not recorded by 0.2.0');
    table.text('chain').nullable().comment('PEM: the issuers, nearest first');
    table.unique(['serial_number', 'authority']);
    table.index(['reserved_at'], 'directory_certificate_reservations', {
      predicate: knex.whereRaw("state = 'reserved'"),
    });
    table.index(['public_key_sha256'], 'directory_certificate_keys');
    table.index(['issuer'], 'directory_certificate_revocations', {
      predicate: knex.whereRaw('revoked_at is not null'),
    });
  });

  // 0.2.0 creates this table when it starts.
  if (!(await knex.schema.hasTable('directory_signing_limits'))) {
    await knex.schema.createTable('directory_signing_limits', table => {
      table.comment('Signing requests of each caller in its current period');
      table.string('key').primary().comment('SHA-256 of the caller');
      table.integer('points').notNullable().defaultTo(0);
      table.bigInteger('expire').nullable().comment('Milliseconds since 1970');
    });
  }
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_signing_limits');
  await knex.schema.dropTable(RECORDS);
};
