import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import type {
  CertificateFields,
  WritableGeneralName,
} from '@directory-gateway/x509';
import type { CertificateProfile } from './CertificateProfile';
import { parsePrincipalName } from './parsePrincipalName';

/** `ub-common-name` of RFC 5280 appendix A.1. */
const LONGEST_COMMON_NAME = 64;

/** What {@link composeCertificate} puts together. */
export interface Composition {
  readonly request: SigningRequest;
  readonly profile: CertificateProfile;
  /** What was reserved: of one reservation comes one certificate. */
  readonly reservation: {
    readonly serialNumber: bigint;
    readonly notBefore: Date;
    readonly notAfter: Date;
  };
  /** Where the authority's revocation list is. */
  readonly crlUrl: string;
}

/**
 * What a certificate is to say: the user's name and the profile. Nothing comes
 * from the CSR but the key, which is not looked at here.
 *
 * @throws RangeError when a name cannot be in a certificate.
 */
export function composeCertificate(options: Composition): CertificateFields {
  const { request, profile, reservation, crlUrl } = options;
  if ([...request.username].length > LONGEST_COMMON_NAME) {
    throw new RangeError(
      `A user name in a certificate has ${LONGEST_COMMON_NAME} characters at most`,
    );
  }
  const alternativeNames = composeAlternativeNames(request);
  return {
    serialNumber: reservation.serialNumber,
    subject: [
      { type: 'O', value: profile.organization },
      { type: 'CN', value: request.username },
    ],
    notBefore: reservation.notBefore,
    notAfter: reservation.notAfter,
    extensions: {
      basicConstraints: { ca: false },
      keyUsage: profile.keyUsage,
      extendedKeyUsage: profile.extendedKeyUsage,
      ...(alternativeNames.length > 0 && { alternativeNames }),
      crlDistributionPoints: [crlUrl],
    },
  };
}

function composeAlternativeNames({
  alternativeNames: { emails, userPrincipalNames, kerberosPrincipalNames },
}: SigningRequest): WritableGeneralName[] {
  return [
    ...emails.map(value => ({ kind: 'rfc822Name' as const, value })),
    ...userPrincipalNames.map(value => ({
      kind: 'userPrincipalName' as const,
      value,
    })),
    ...kerberosPrincipalNames.map(name => ({
      kind: 'krb5PrincipalName' as const,
      principal: parsePrincipalName(name),
    })),
  ];
}
