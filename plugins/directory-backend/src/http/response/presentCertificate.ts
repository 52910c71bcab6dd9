import { AuthorityProtocolError } from '@directory-gateway/backstage-plugin-directory-node';
import type { CertificateDescription } from '@directory-gateway/x509';
import type { UserCertificate } from '../../certificates/UserCertificates';
import type { RecordModel } from './fieldMask';
import { rawInteger } from './json';
import type { ResourceUris } from './ResourceUris';

type Presenter = (
  issued: UserCertificate,
  described: CertificateDescription,
  uris: ResourceUris,
) => unknown;

/** Keys that are not part of the contract. */
const ONLY_BY_NAME = [
  'issued_here',
  'extended_key_usage',
  'profile',
  'revoked_at',
];

/**
 * The keys of a certificate record in the contract's order (section 2.8), with
 * the keys that FreeIPA adds.
 */
const presenters: Readonly<Record<string, Presenter>> = {
  cacn: issued => issued.cacn ?? null,
  certificate: (_issued, described) => described.pem,
  certificate_chain: issued =>
    issued.chain?.map(der => der.toString('base64')) ?? null,
  issuer: (_issued, described) => described.issuer,
  revoked: issued => issued.revocation !== undefined,
  san_other: (_issued, { san }) => nullIfEmpty(san.other),
  san_other_kpn: (_issued, { san }) => nullIfEmpty(san.otherKpn),
  san_other_upn: (_issued, { san }) => nullIfEmpty(san.otherUpn),
  serial_number: (_issued, { serialNumber }) => rawInteger(serialNumber),
  serial_number_hex: (_issued, described) => described.serialNumberHex,
  sha1_fingerprint: (_issued, described) => described.sha1Fingerprint,
  sha256_fingerprint: (_issued, described) => described.sha256Fingerprint,
  subject: (_issued, described) => described.subject,
  valid_not_after: (_issued, described) => described.validNotAfter,
  valid_not_before: (_issued, described) => described.validNotBefore,
  san_rfc822name: (_issued, { san }) => nullIfEmpty(san.rfc822Name),
  san_dnsname: (_issued, { san }) => nullIfEmpty(san.dnsName),
  san_uri: (_issued, { san }) => nullIfEmpty(san.uri),
  san_ipaddress: (_issued, { san }) => nullIfEmpty(san.ipAddress),
  san_directoryname: (_issued, { san }) => nullIfEmpty(san.directoryName),
  san_oid: (_issued, { san }) => nullIfEmpty(san.oid),
  owner_user: ({ owners }) => nullIfEmpty(owners ?? []),
  revocation_reason: ({ revocation }) => revocation?.reason ?? null,
  label: ({ record }) => record?.label ?? null,
  issued_here: isIssuedHere,
  extended_key_usage: (_issued, described) =>
    described.extendedKeyUsage ?? null,
  profile: ({ record }) => record?.profile ?? null,
  revoked_at: ({ revocation }) => revocation?.revokedAt?.toISOString() ?? null,
  uri: (_issued, { serialNumber }, uris) => uris.certificate(serialNumber),
};

/** The keys of a certificate record. */
export const certificateModel: RecordModel = {
  keys: Object.keys(presenters).filter(key => !ONLY_BY_NAME.includes(key)),
  onlyByName: ONLY_BY_NAME,
  lists: new Set([
    'certificate_chain',
    'extended_key_usage',
    'san_other',
    'san_other_kpn',
    'san_other_upn',
    'san_rfc822name',
    'san_dnsname',
    'san_uri',
    'san_ipaddress',
    'san_directoryname',
    'san_oid',
    'owner_user',
  ]),
};

/**
 * A certificate as the API shows it, with the given keys in their order.
 *
 * @throws AuthorityProtocolError when the certificate cannot be read.
 */
export function presentCertificate(
  issued: UserCertificate,
  keys: readonly string[],
  uris: ResourceUris,
): Record<string, unknown> {
  const { description } = issued.certificate;
  if (!description.ok) {
    throw new AuthorityProtocolError(description.message);
  }
  return Object.fromEntries(
    keys.map(key => [
      key,
      presenters[key](issued, description.certificate, uris),
    ]),
  );
}

/** Returns `null` when the issuer is unknown. */
function isIssuedHere(certificate: UserCertificate): boolean | null {
  if (certificate.cacn !== undefined) {
    return true;
  }
  return certificate.isForeign ? false : null;
}

function nullIfEmpty<T>(values: readonly T[]): readonly T[] | null {
  return values.length > 0 ? values : null;
}
