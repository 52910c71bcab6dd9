// @ts-check
const { createHash, X509Certificate } = require('node:crypto');

const BLOCKED_KEYS = 'directory_blocked_keys';
const EMBEDDED_CERTIFICATES = 'embedded_ca_certificates';

/** CRLReason keyCompromise, RFC 5280 §5.3.1. */
const KEY_COMPROMISE = 1;

/** @param {import('knex').Knex} knex */
exports.up = async function up(knex) {
  await knex.schema.createTable(BLOCKED_KEYS, table => {
    table.comment('Public keys that may not be certified again');
    table
      .string('public_key_sha256', 64)
      .primary()
      .comment('SHA-256 of the SubjectPublicKeyInfo, lower-case hex');
    table
      .text('serial_number')
      .notNullable()
      .comment('Decimal: the certificate that was revoked for keyCompromise');
    table.text('blocked_by').notNullable().comment('User name or entity ref');
    table.timestamp('blocked_at').notNullable();
  });

  // The tables of the embedded CA are in the same database. FreeIPA does not
  // report certificates that were revoked earlier.
  if (await knex.schema.hasTable(EMBEDDED_CERTIFICATES)) {
    const revoked = await knex(EMBEDDED_CERTIFICATES)
      .where({ revocation_reason: KEY_COMPROMISE })
      .whereNotNull('certificate');
    for (const row of revoked) {
      await knex(BLOCKED_KEYS)
        .insert({
          public_key_sha256: publicKeySha256(row.certificate),
          serial_number: row.serial_number,
          blocked_by: row.revoked_by ?? 'unknown',
          blocked_at: row.revoked_at,
        })
        .onConflict()
        .ignore();
    }
  }
};

/** @param {import('knex').Knex} knex */
exports.down = async function down(knex) {
  await knex.schema.dropTable(BLOCKED_KEYS);
};

/** @param {Buffer} certificate - DER */
function publicKeySha256(certificate) {
  const { publicKey } = new X509Certificate(certificate);
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
