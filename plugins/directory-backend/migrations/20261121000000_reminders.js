// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_reminders', table => {
    table.comment('Expiry reminders of certificates, each sent once');
    // Neither database has a number type of 160 bits.
    table.string('serial_number', 49).notNullable().comment('Decimal');
    table
      .timestamp('not_after')
      .notNullable()
      .comment('Serial numbers of two CAs may be equal');
    table
      .integer('days_before')
      .notNullable()
      .comment('One of directory.certificates.reminders.daysBefore');
    table
      .timestamp('claimed_at')
      .notNullable()
      .comment('When a process claimed it');
    table
      .timestamp('sent_at')
      .nullable()
      .comment('null: not sent yet, or the process ended');
    table.primary(['serial_number', 'not_after', 'days_before']);
    table.index('not_after');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_reminders');
};
