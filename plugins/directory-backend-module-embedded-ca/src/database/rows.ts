/** Names of the tables. */
export const AUTHORITIES = 'embedded_ca_authorities';
export const CERTIFICATES = 'embedded_ca_certificates';

/** PostgreSQL returns a Date, SQLite milliseconds since 1970. */
export type Timestamp = Date | number;

/** A row of the table of issuers; the migrations describe the columns. */
export interface AuthorityRow {
  id: string;
  chain: string;
  created_at: Timestamp;
  changes: number;
  crl: Buffer | null;
  crl_number: string;
  crl_changes: number;
  crl_this_update: Timestamp | null;
  crl_next_update: Timestamp | null;
}

/** A row of the table of certificates; the migrations describe the columns. */
export interface CertificateRow {
  serial_number: string;
  authority_id: string;
  username: string;
  profile: string;
  requested_by: string;
  request_key: string | null;
  reserved_at: Timestamp;
  not_before: Timestamp;
  not_after: Timestamp;
  certificate: Buffer | null;
  /** Start of the hold when the reason is certificateHold. */
  revoked_at: Timestamp | null;
  revocation_reason: number | null;
  revoked_by: string | null;
}
