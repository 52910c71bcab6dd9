import type { Caller } from '@directory-gateway/directory-core';
import type { CertificateAuthorities } from './CertificateAuthorities';
import { FreshProofRequiredError, RenewalRefusedError } from './errors';
import type {
  CertificateRecord,
  CertificateRecords,
} from './records/CertificateRecords';
import { ON_HOLD } from './records/RevocationTable';

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
 * @throws FreshProofRequiredError when the caller has not authenticated
 *   recently.
 * @throws RenewalRefusedError when the certificate cannot be renewed.
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
    throw new RenewalRefusedError(
      'Certificates can be renewed only by their owner, and only if this gateway issued them.',
    );
  }
  if (!hasFreshProof(caller)) {
    throw new FreshProofRequiredError(
      'To renew a certificate, sign in to the portal again, or send a Kerberos ticket with the request.',
    );
  }
  if (record.notAfter.getTime() <= Date.now()) {
    throw new RenewalRefusedError(
      'The certificate has expired. Request a new certificate.',
    );
  }
  const { profile } = record;
  if (profile === undefined) {
    throw new RenewalRefusedError(
      'The profile of the certificate is unknown. Request a new certificate.',
    );
  }
  const issued = await authorities.get(serialNumber);
  if (issued?.record?.id !== record.id || issued.revocation) {
    throw new RenewalRefusedError(
      issued?.revocation?.reason === ON_HOLD
        ? 'The certificate is on hold.'
        : 'The certificate is revoked. Request a new one.',
    );
  }
  return { ...record, profile };
}
