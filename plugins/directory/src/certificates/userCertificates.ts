import type {
  Certificate,
  DirectoryClient,
  MaskedCertificate,
} from '@directory-gateway/backstage-plugin-directory-common';
import { fetchAllPages, useDirectoryQuery } from '../api/useDirectoryQuery';

const LIST_FIELDS = [
  'subject',
  'issuer',
  'serial_number',
  'serial_number_hex',
  'revoked',
  'revoked_at',
  'revocation_reason',
  'issued_here',
  'valid_not_before',
  'valid_not_after',
  'extended_key_usage',
  'label',
] as const satisfies readonly (keyof Certificate)[];

const OWN_FIELDS = [
  ...LIST_FIELDS,
  'sha256_fingerprint',
  'certificate',
  'certificate_chain',
] as const satisfies readonly (keyof Certificate)[];

/** Mask of one certificate: all fields, with those that are returned by name only. */
export const ALL_FIELDS = '*,issued_here,extended_key_usage,profile,revoked_at';

/** A certificate in a list. */
export type ListedCertificate = Pick<Certificate, (typeof LIST_FIELDS)[number]>;

/** A certificate of the user. */
export type MyCertificate = Pick<Certificate, (typeof OWN_FIELDS)[number]>;

/** Queries the certificates of a user, the newest first. */
export function useCertificates(username: string) {
  return useDirectoryQuery({
    key: ['certificates', username],
    load: async (client, signal) => {
      const mask = LIST_FIELDS.join(',');
      const list = await listCertificates({ client, signal, username, mask });
      // The mask selects exactly these fields, so that none is missing.
      return list as ListedCertificate[];
    },
  });
}

/** Queries the user's own certificates, the newest first. */
export function useMyCertificates(username: string | null | undefined) {
  return useDirectoryQuery({
    key: ['my-certificates', username],
    enabled: Boolean(username),
    load: async (client, signal) => {
      const list = await listCertificates({
        client,
        signal,
        username: username!,
        mask: OWN_FIELDS.join(','),
      });
      // The mask selects exactly these fields, so that none is missing.
      return list as MyCertificate[];
    },
  });
}

/** Loads the certificates of a user with the fields of a mask, the newest first. */
export function listCertificates(options: {
  client: DirectoryClient;
  signal: AbortSignal;
  username: string;
  mask: string;
}): Promise<MaskedCertificate[]> {
  const { client, signal, username, mask } = options;
  return fetchAllPages(
    query =>
      client.get('/users/{username}/certificates/', {
        params: { path: { username }, query, header: { 'X-Fields': mask } },
        signal,
      }),
    signal,
  );
}

/**
 * State of a certificate. `hold`: revoked for now; `foreign`: issued by another
 * CA; `unchecked`: the issuer is not known.
 */
export type CertificateState =
  | 'valid'
  | 'expiring'
  | 'expired'
  | 'revoked'
  | 'hold'
  | 'notYet'
  | 'foreign'
  | 'unchecked';

/** Attributes of a certificate that determine its state. */
type StateFields = Pick<
  Certificate,
  | 'issued_here'
  | 'revocation_reason'
  | 'revoked'
  | 'valid_not_before'
  | 'valid_not_after'
>;

/** certificateHold (RFC 5280 §5.3.1). */
const ON_HOLD = 6;

/** Time before its expiry in which a certificate counts as expiring, in milliseconds. */
const SOON = 30 * 24 * 60 * 60 * 1000;

/** Largest part of its validity in which a certificate counts as expiring. */
const LAST_PART = 1 / 3;

/**
 * Returns the state of a certificate at a moment; revocation outweighs dates.
 * Dates and revocation of certificates of another CA are not evaluated.
 */
export function certificateState(
  certificate: StateFields,
  now: Date,
): CertificateState {
  const { issued_here, revoked, revocation_reason } = certificate;
  const { valid_not_before, valid_not_after } = certificate;
  if (!issued_here) {
    return issued_here === false ? 'foreign' : 'unchecked';
  }
  if (revoked) {
    return revocation_reason === ON_HOLD ? 'hold' : 'revoked';
  }
  const [start, expiry] = [valid_not_before, valid_not_after].map(Date.parse);
  const left = expiry - now.getTime();
  if (left < 0) {
    return 'expired';
  }
  if (start > now.getTime()) {
    return 'notYet';
  }
  const soon = Math.min(SOON, (expiry - start) * LAST_PART);
  return left < soon ? 'expiring' : 'valid';
}

/** Whether a certificate is valid at a moment, and was issued by the portal. */
export function isValid(certificate: StateFields, now: Date): boolean {
  return ['valid', 'expiring'].includes(certificateState(certificate, now));
}

/** Whether all certificates have the same issuer, so that it need not be shown. */
export function haveSameIssuer(
  certificates: readonly Pick<Certificate, 'issuer'>[],
): boolean {
  return new Set(certificates.map(({ issuer }) => issuer)).size <= 1;
}

/**
 * Sorts certificates: those that can be used, the next to expire first; then
 * those that are revoked, expired or external, the last to expire first.
 */
export function orderByExpiry<Listed extends StateFields>(
  certificates: readonly Listed[],
  now: Date,
): Listed[] {
  const isUsable = (one: Listed) =>
    !['revoked', 'expired', 'foreign'].includes(certificateState(one, now));
  const expiryOf = (one: Listed) => Date.parse(one.valid_not_after);
  const usable = certificates.filter(isUsable);
  const others = certificates.filter(one => !isUsable(one));
  return [
    ...usable.sort((a, b) => expiryOf(a) - expiryOf(b)),
    ...others.sort((a, b) => expiryOf(b) - expiryOf(a)),
  ];
}

/** Returns the certificates that are valid at a moment, the next to expire first. */
export function validCertificates(
  certificates: readonly ListedCertificate[],
  now: Date,
): ListedCertificate[] {
  return orderByExpiry(certificates, now).filter(certificate =>
    isValid(certificate, now),
  );
}
