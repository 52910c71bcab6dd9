import type { RevocationReason } from '@directory-gateway/x509';
import { REVOCATION_REASONS } from '@directory-gateway/x509';
import { readChain } from '../authority/AuthorityStore';
import type { AuthorityRow, CertificateRow } from '../database/rows';

/** A serial number on record, and what became of it. */
export interface CertificateRecord {
  readonly serialNumber: bigint;
  readonly username: string;
  /** In whole seconds, as certificates have it. */
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** DER; `undefined` while it is reserved only. */
  readonly certificate?: Buffer;
  readonly revocation?: Revocation;
}

/** A certificate on record, with those of the authority that signed it. */
export interface IssuedRecord extends CertificateRecord {
  readonly certificate: Buffer;
  /** DER: the authority's certificate and those above it. */
  readonly authorityChain: readonly Buffer[];
}

/** That a certificate is no longer to be trusted. */
export interface Revocation {
  readonly revokedAt: Date;
  readonly reason: RevocationReason;
}

/** Reads a row of the certificates. */
export function readRecord(row: CertificateRow): CertificateRecord {
  return {
    serialNumber: BigInt(row.serial_number),
    username: row.username,
    notBefore: new Date(row.not_before),
    notAfter: new Date(row.not_after),
    ...(row.certificate && { certificate: row.certificate }),
    ...(row.revoked_at !== null && {
      revocation: {
        revokedAt: new Date(row.revoked_at),
        reason: reasonOf(row.revocation_reason),
      },
    }),
  };
}

/** Reads a row of the certificates, joined with the chain of its authority. */
export function readIssuedRecord(
  row: CertificateRow & Pick<AuthorityRow, 'chain'>,
): IssuedRecord | undefined {
  return row.certificate
    ? {
        ...readRecord(row),
        certificate: row.certificate,
        authorityChain: readChain(row.chain),
      }
    : undefined;
}

function reasonOf(code: number | null): RevocationReason {
  const [reason] = Object.entries(REVOCATION_REASONS).find(
    entry => entry[1] === code,
  ) ?? ['unspecified'];
  return reason as RevocationReason;
}
