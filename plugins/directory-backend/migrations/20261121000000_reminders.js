// @ts-check

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable('directory_reminders', table => {
    table.comment('Who is told that a certificate ends: each once, by anyone');
    // 160 bits fit no number type of both databases.
    table.string('serial_number', 49).notNullable().comment('Decimal');
    table
      .timestamp('not_after')
      .notNullable()
      .comment('Serial numbers of two authorities may be the same');
    table
      .integer('days_before')
      .notNullable()
      .comment('The step of directory.certificates.reminders.daysBefore');
    table
      .timestamp('claimed_at')
      .notNullable()
      .comment('When a process took it upon itself');
    table
      .timestamp('sent_at')
      .nullable()
      .comment('null: not yet, or the process has died');
    table.primary(['serial_number', 'not_after', 'days_before']);
    table.index('not_after');
  });
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable('directory_reminders');
};
