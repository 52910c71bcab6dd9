import type {
  Certificate,
  DirectoryClient,
} from '@directory-gateway/backstage-plugin-directory-common';
import { collect, useDirectoryQuery } from '../api/useDirectoryQuery';

const LIST_FIELDS = [
  'subject',
  'issuer',
  'serial_number',
  'serial_number_hex',
  'revoked',
  'issued_here',
  'valid_not_before',
  'valid_not_after',
] as const satisfies readonly (keyof Certificate)[];

const OWN_FIELDS = [
  ...LIST_FIELDS,
  'sha256_fingerprint',
  'certificate',
  'certificate_chain',
] as const satisfies readonly (keyof Certificate)[];

/** A certificate in a list. */
export type ListedCertificate = Pick<Certificate, (typeof LIST_FIELDS)[number]>;

/** A certificate of the user. */
export type MyCertificate = Pick<Certificate, (typeof OWN_FIELDS)[number]>;

/** Queries the certificates of a user, the newest first. */
export function useCertificates(username: string) {
  return useDirectoryQuery({
    key: ['certificates', username],
    load: (client, signal): Promise<ListedCertificate[]> =>
      listCertificates({ client, signal, username, fields: LIST_FIELDS }),
  });
}

/** Queries the user's own certificates, the newest first. */
export function useMyCertificates(username: string | null | undefined) {
  return useDirectoryQuery({
    key: ['my-certificates', username],
    enabled: Boolean(username),
    load: (client, signal): Promise<MyCertificate[]> =>
      listCertificates({
        client,
        signal,
        username: username!,
        fields: OWN_FIELDS,
      }),
  });
}

async function listCertificates<Field extends keyof Certificate>(options: {
  client: DirectoryClient;
  signal: AbortSignal;
  username: string;
  fields: readonly Field[];
}): Promise<Pick<Certificate, Field>[]> {
  const { client, signal, username, fields } = options;
  const certificates = await collect(
    query =>
      client.get('/users/{username}/certificates/', {
        params: {
          path: { username },
          query,
          header: { 'X-Fields': fields.join(',') },
        },
        signal,
      }),
    signal,
  );
  // The mask selects exactly these fields, so that none is missing.
  return certificates as Pick<Certificate, Field>[];
}

/**
 * State of a certificate. `foreign`: issued by another CA; `unchecked`: the
 * issuer is not known.
 */
export type CertificateState =
  | 'valid'
  | 'expiring'
  | 'expired'
  | 'revoked'
  | 'notYet'
  | 'foreign'
  | 'unchecked';

/** Time before its expiry in which a certificate counts as expiring, in milliseconds. */
const SOON = 30 * 24 * 60 * 60 * 1000;

/** Largest part of its validity in which a certificate counts as expiring. */
const LAST_PART = 1 / 3;

/**
 * Returns the state of a certificate at a moment; revocation outweighs dates.
 * Dates and revocation of certificates of another CA are not evaluated.
 */
export function certificateState(
  certificate: Pick<
    ListedCertificate,
    'issued_here' | 'revoked' | 'valid_not_before' | 'valid_not_after'
  >,
  now: Date,
): CertificateState {
  const { issued_here, revoked } = certificate;
  const { valid_not_before, valid_not_after } = certificate;
  if (!issued_here) {
    return issued_here === false ? 'foreign' : 'unchecked';
  }
  if (revoked) {
    return 'revoked';
  }
  const [start, end] = [valid_not_before, valid_not_after].map(Date.parse);
  const left = end - now.getTime();
  if (left < 0) {
    return 'expired';
  }
  if (start > now.getTime()) {
    return 'notYet';
  }
  const soon = Math.min(SOON, (end - start) * LAST_PART);
  return left < soon ? 'expiring' : 'valid';
}

/**
 * Sorts certificates: those that can be used, the next to expire first; then
 * those that are revoked, expired or not issued here, the last to expire first.
 */
export function orderByEnd<
  Listed extends Pick<
    ListedCertificate,
    'issued_here' | 'revoked' | 'valid_not_before' | 'valid_not_after'
  >,
>(certificates: readonly Listed[], now: Date): Listed[] {
  const isGone = (one: Listed) =>
    ['revoked', 'expired', 'foreign'].includes(certificateState(one, now));
  const endOf = (one: Listed) => Date.parse(one.valid_not_after);
  const usable = certificates.filter(one => !isGone(one));
  const gone = certificates.filter(isGone);
  return [
    ...usable.sort((a, b) => endOf(a) - endOf(b)),
    ...gone.sort((a, b) => endOf(b) - endOf(a)),
  ];
}

/** Returns the certificates that are valid at a moment, the next to expire first. */
export function pickUsable(
  certificates: readonly ListedCertificate[],
  now: Date,
): ListedCertificate[] {
  return orderByEnd(certificates, now).filter(certificate =>
    ['valid', 'expiring'].includes(certificateState(certificate, now)),
  );
}
