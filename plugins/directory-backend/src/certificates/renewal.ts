import type { Caller } from '@directory-gateway/directory-core';
import type { CertificateAuthorities } from './CertificateAuthorities';
import { CertificateRefusedError } from './errors';
import { type CertificateRecord, ON_HOLD } from './records/certificateRows';
import type { CertificateRecords } from './records/CertificateRecords';

/** Maximum age of a portal token that proves a recent authentication. */
const FRESH_MS = 5 * 60_000;

/**
 * Returns whether a caller has authenticated recently: with a SPNEGO token on
 * this request, or by signing in to the portal.
 */
export function hasFreshProof(caller: Caller): boolean {
  switch (caller.kind) {
    case 'kerberos':
      return caller.credential === 'ticket';
    case 'portalUser':
      return (
        caller.issuedAt !== undefined &&
        Math.abs(Date.now() - caller.issuedAt.getTime()) <= FRESH_MS
      );
    default:
      return false;
  }
}

/**
 * @param purpose - beginning of the message, for example `To renew a certificate`
 * @throws CertificateRefusedError when the caller has not authenticated recently.
 */
export function requireFreshProof(caller: Caller, purpose: string): void {
  if (!hasFreshProof(caller)) {
    throw new CertificateRefusedError(
      `${purpose}, sign in to the portal again, or send a Kerberos ticket with the request.`,
      { reason: 'recent_sign_in_required' },
    );
  }
}

/**
 * Returns whether a caller is the account to which a certificate was issued.
 */
export function isOwner(
  { account }: Caller,
  record: Pick<CertificateRecord, 'username' | 'subjectId'>,
): boolean {
  return record.subjectId === undefined
    ? account?.username === record.username
    : account?.stableId === record.subjectId;
}

/**
 * Returns the record of a certificate that the caller may renew.
 *
 * @throws CertificateRefusedError when the certificate cannot be renewed, or the
 *   caller has not authenticated recently.
 */
export async function findRenewable(
  serialNumber: bigint,
  options: {
    readonly authorities: Pick<CertificateAuthorities, 'get'>;
    readonly caller: Caller;
    readonly records: Pick<CertificateRecords, 'find'>;
  },
): Promise<CertificateRecord & { readonly profile: string }> {
  const { authorities, caller, records } = options;
  const found = await records.find(serialNumber);
  const record = found.find(each => isOwner(caller, each));
  if (!record) {
    throw new CertificateRefusedError(
      'Certificates can be renewed only by their owner, and only if this gateway issued them.',
    );
  }
  requireFreshProof(caller, 'To renew a certificate');
  if (record.notAfter.getTime() <= Date.now()) {
    throw new CertificateRefusedError(
      'The certificate has expired. Request a new certificate.',
    );
  }
  const { profile } = record;
  if (profile === undefined) {
    throw new CertificateRefusedError(
      'The profile of the certificate is unknown. Request a new certificate.',
    );
  }
  const issued = await authorities.get(serialNumber);
  if (issued?.record?.id !== record.id || issued.revocation) {
    throw new CertificateRefusedError(
      issued?.revocation?.reason === ON_HOLD
        ? 'The certificate is on hold.'
        : 'The certificate is revoked. Request a new one.',
    );
  }
  return { ...record, profile };
}
