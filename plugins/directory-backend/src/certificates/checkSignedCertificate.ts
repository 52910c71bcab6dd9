import {
  AuthorityProtocolError,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type {
  CertificateDescription,
  GeneralName,
} from '@directory-gateway/x509';
import { createHash } from 'node:crypto';

/** OID of commonName (RFC 4519 §2.3). */
const COMMON_NAME = '2.5.4.3';

/** Maximum difference between the clocks of gateway and CA, in milliseconds. */
const CLOCK_SKEW_MS = 60 * 60_000;

/**
 * Checks that a CA has signed what the gateway has approved: the key, the serial
 * number, the user name as the only CN, no other names, not a CA, and no longer
 * validity than the profile's.
 *
 * @param options - `validityMs`: maximum validity, if the CA knows it
 * @returns the description of the certificate
 * @throws AuthorityProtocolError when the certificate differs.
 */
export function checkSignedCertificate(
  { certificate: { description } }: SignedCertificate,
  options: {
    readonly request: SigningRequest;
    readonly choosesSerialNumbers: boolean;
    readonly validityMs: number | undefined;
  },
): CertificateDescription {
  const { request, choosesSerialNumbers, validityMs = Infinity } = options;
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
    'a longer validity than its profile':
      certificate.notAfter > Date.now() + validityMs + CLOCK_SKEW_MS,
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
