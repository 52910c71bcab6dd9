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
  'owner_user',
  'sha256_fingerprint',
  'certificate',
  'certificate_chain',
] as const satisfies readonly (keyof Certificate)[];

/**
 * Mask for one certificate: all fields, including those returned only by name.
 */
export const ALL_FIELDS = '*,issued_here,extended_key_usage,profile,revoked_at';

/** A certificate in a list. */
export type ListedCertificate = Pick<Certificate, (typeof LIST_FIELDS)[number]>;

/** A certificate in the list of the user's own certificates. */
export type MyCertificate = Pick<Certificate, (typeof OWN_FIELDS)[number]>;

/** Queries the certificates of a user, newest first. */
export function useCertificates(username: string) {
  return useDirectoryQuery({
    key: ['certificates', username],
    load: async (client, signal) => {
      const mask = LIST_FIELDS.join(',');
      const list = await listCertificates({ client, signal, username, mask });
      // The mask selects exactly these fields.
      return list as ListedCertificate[];
    },
  });
}

/** Queries the user's own certificates, newest first. */
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
      // The mask selects exactly these fields.
      return list as MyCertificate[];
    },
  });
}

/**
 * Loads the certificates of a user, newest first, with the fields of a mask.
 */
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
 * State of a certificate. `hold`: temporarily revoked; `foreign`: issued by
 * another CA; `unchecked`: its CA was not available to check it.
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

/** Certificate fields that determine the state. */
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

/** Maximum remaining lifetime of an expiring certificate, in milliseconds. */
const SOON = 30 * 24 * 60 * 60 * 1000;

/** Maximum remaining fraction of the validity of an expiring certificate. */
const LAST_PART = 1 / 3;

/**
 * Returns the state of a certificate at a given time. Revocation takes
 * precedence over dates. For certificates of other CAs, dates and revocation
 * are not evaluated.
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

/**
 * Whether a certificate was issued by the portal and is valid at a given time.
 */
export function isValid(certificate: StateFields, now: Date): boolean {
  return ['valid', 'expiring'].includes(certificateState(certificate, now));
}

/**
 * Sorts certificates: usable ones first, next to expire first; then revoked,
 * expired and external ones, last to expire first.
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

/**
 * Returns the certificates that are valid at a given time, next to expire
 * first.
 */
export function validCertificates(
  certificates: readonly ListedCertificate[],
  now: Date,
): ListedCertificate[] {
  return orderByExpiry(certificates, now).filter(certificate =>
    isValid(certificate, now),
  );
}
