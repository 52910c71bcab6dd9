import {
  AuthorityProtocolError,
  type AuthorityProfile,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type CertificateDescription,
  type GeneralName,
  isReservedPurpose,
  purposeOid,
} from '@directory-gateway/x509';
import { createHash } from 'node:crypto';

/** OID of commonName (RFC 4519 §2.3). */
const COMMON_NAME = '2.5.4.3';

/** Maximum difference between the clocks of gateway and CA, in milliseconds. */
const CLOCK_SKEW_MS = 60 * 60_000;

/**
 * Checks that a CA has signed what the gateway has approved: the key, the serial
 * number, the user name as the only CN, no other names, not a CA, valid now, and
 * the usages and at most the validity of the profile.
 *
 * @param options - `profile`: if the CA knows it; without it, the usages must not
 *   be reserved for CAs and other trusted services
 * @returns the description of the certificate
 * @throws AuthorityProtocolError when the certificate differs.
 */
export function checkSignedCertificate(
  { certificate: { description } }: SignedCertificate,
  options: {
    readonly request: SigningRequest;
    readonly choosesSerialNumbers: boolean;
    readonly profile: AuthorityProfile | undefined;
  },
): CertificateDescription {
  const { request, choosesSerialNumbers, profile } = options;
  const latestEnd = Date.now() + (profile?.validityMs ?? Infinity);
  if (!description.ok) {
    throw new AuthorityProtocolError(
      `The CA returned an unreadable certificate: ${description.message}`,
    );
  }
  const { certificate } = description;
  const key = createHash('sha256').update(request.publicKey).digest('hex');
  const other = certificate.alternativeNames.find(
    name => !isApproved(name, request.alternativeNames),
  );
  const faults = {
    'another key': certificate.publicKey.sha256 !== key,
    'another serial number':
      certificate.serialNumber <= 0n ||
      (!choosesSerialNumbers &&
        certificate.serialNumber !== request.serialNumber),
    'another user name': !isNamed(certificate, request.username),
    'an alternative name that was not requested': other !== undefined,
    'the rights of a CA': certificate.ca,
    'other usages than its profile': !hasUsages(certificate, profile),
    'a start of validity in the future':
      certificate.notBefore > Date.now() + CLOCK_SKEW_MS,
    'a longer validity than its profile':
      certificate.notAfter > latestEnd + CLOCK_SKEW_MS,
  };
  for (const [fault, isFault] of Object.entries(faults)) {
    if (isFault) {
      throw new AuthorityProtocolError(
        `The CA returned a certificate with ${fault}: ${certificate.serialNumber}`,
      );
    }
  }
  return certificate;
}

/** Returns whether a user name is the only CN of a certificate. */
export function isNamed(
  { subjectName }: CertificateDescription,
  username: string,
): boolean {
  const names = subjectName.rdns
    .flat()
    .filter(({ oid }) => oid === COMMON_NAME);
  return names.length > 0 && names.every(({ value }) => value === username);
}

function hasUsages(
  { extendedKeyUsage = [], keyUsage = [] }: CertificateDescription,
  profile: AuthorityProfile | undefined,
): boolean {
  const oidsOf = (purposes: readonly string[]) =>
    purposes.map(purposeOid).sort().join();
  return (
    !keyUsage.some(usage => usage === 'keyCertSign' || usage === 'cRLSign') &&
    !extendedKeyUsage.some(isReservedPurpose) &&
    (!profile || oidsOf(profile.extendedKeyUsage) === oidsOf(extendedKeyUsage))
  );
}

function isApproved(
  name: GeneralName,
  approved: SigningRequest['alternativeNames'],
): boolean {
  switch (name.kind) {
    case 'rfc822Name':
      return approved.emails.includes(name.value);
    case 'userPrincipalName':
      return approved.userPrincipalNames.includes(name.value);
    case 'krb5PrincipalName':
      return approved.kerberosPrincipalNames.includes(name.value);
    default:
      return false;
  }
}
