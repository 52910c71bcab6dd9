import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  type CertificateFields,
  type KerberosPrincipal,
  type WritableGeneralName,
} from '@directory-gateway/x509';
import { X509Certificate, createHash } from 'node:crypto';
import {
  type SigningAuthority,
  backdated,
} from '../authority/SigningAuthority';
import type { CertificateProfile } from './CertificateProfile';
import type { CertificateRecord } from './CertificateStore';

/** Input of {@link makeCertificate}. */
export interface CertificateInput {
  readonly request: SigningRequest;
  readonly profile: CertificateProfile;
  readonly authority: SigningAuthority;
  /** Record with the serial number and the validity of the certificate. */
  readonly reserved: CertificateRecord;
}

/** `ub-common-name` of RFC 5280 appendix A.1. */
const MAX_COMMON_NAME_LENGTH = 64;

/**
 * Signs a certificate and verifies it before it is returned.
 *
 * @throws AuthorityRefusalError when a name cannot be written to a certificate.
 * @throws AuthorityUnavailableError when the certificate fails the self-check.
 */
export function makeCertificate(
  input: CertificateInput & { readonly crlUrl: string },
): Certificate {
  const { request, authority } = input;
  try {
    const fields = composeFields(input);
    const certificate = new Certificate(
      authority.issuer.signCertificate({ ...fields, spki: request.publicKey }),
    );
    checkCertificate(certificate, { ...input, fields });
    return certificate;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new AuthorityRefusalError(
        `The certificate cannot be written: ${error.message}.`,
      );
    }
    throw new AuthorityUnavailableError('Certificate self-check failed', error);
  }
}

/**
 * Composes the fields from the user and the profile. Nothing is taken from the
 * CSR except the key.
 *
 * @throws RangeError when a name cannot be written to a certificate.
 */
function composeFields(
  options: CertificateInput & { readonly crlUrl: string },
): CertificateFields {
  const { request, profile, reserved, crlUrl } = options;
  if ([...request.username].length > MAX_COMMON_NAME_LENGTH) {
    throw new RangeError(
      `A user name in a certificate has ${MAX_COMMON_NAME_LENGTH} characters at most`,
    );
  }
  const alternativeNames = composeAlternativeNames(request);
  return {
    serialNumber: reserved.serialNumber,
    subject: [
      { type: 'O', value: profile.organization },
      { type: 'CN', value: request.username },
    ],
    notBefore: reserved.notBefore,
    notAfter: reserved.notAfter,
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

/**
 * Reads a certificate back and compares it with its fields, so that a defect of
 * the machine or of the code is never returned with a valid signature.
 *
 * @throws Error that lists the differences.
 */
function checkCertificate(
  certificate: Certificate,
  expected: CertificateInput & { readonly fields: CertificateFields },
): void {
  const { fields, request, authority } = expected;
  const { description } = certificate;
  if (!description.ok) {
    throw new Error(`Invalid certificate: ${description.code}`);
  }
  const actual = description.certificate;
  const checks: Record<string, boolean> = {
    signature: new X509Certificate(certificate.der).verify(authority.publicKey),
    serialNumber: actual.serialNumber === fields.serialNumber,
    issuer: actual.issuer === authority.issuer.certificate.subject,
    notBefore: actual.notBefore === fields.notBefore.getTime(),
    notAfter: actual.notAfter === fields.notAfter.getTime(),
    publicKey: actual.publicKey.sha256 === sha256(request.publicKey),
    ca: !actual.ca,
    alternativeNames:
      actual.alternativeNames.length ===
      (fields.extensions.alternativeNames ?? []).length,
    extensions: actual.unreadableExtensions.length === 0,
  };
  const failed = Object.keys(checks).filter(name => !checks[name]);
  if (failed.length > 0) {
    throw new Error(`Invalid certificate: ${failed.join(', ')}`);
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Validity of a certificate that is signed now, in whole seconds (RFC 5280
 * §4.1.2.5) and within the validity of the CA's certificate, because a chain is
 * valid only while all of its certificates are.
 *
 * @throws AuthorityUnavailableError when the CA's certificate is not valid.
 */
export function validityOf(
  { validityMs }: CertificateProfile,
  options: { readonly now: number; readonly authority: SigningAuthority },
): { readonly notBefore: Date; readonly notAfter: Date } {
  const { now, authority } = options;
  const ca = authority.issuer.certificate;
  const notBefore = wholeSecond(
    Math.max(backdated(now).getTime(), ca.notBefore),
  );
  const notAfter = wholeSecond(Math.min(now + validityMs, ca.notAfter));
  if (now > ca.notAfter || notBefore >= notAfter) {
    throw new AuthorityUnavailableError(
      `The CA certificate is valid from ${ca.validNotBefore} to ${ca.validNotAfter}`,
    );
  }
  return { notBefore, notAfter };
}

function wholeSecond(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}

/** NT-PRINCIPAL (RFC 4120 §6.2): a user, as in a request of `kinit`. */
const NT_PRINCIPAL = 1;

/** A component: characters that are not separators, or are escaped. */
const COMPONENT = String.raw`(?:[^\\/@]|\\[\\/@])+`;
const PRINCIPAL = new RegExp(
  `^(${COMPONENT}(?:/${COMPONENT})*)@(${COMPONENT})$`,
);

/**
 * Parses a Kerberos principal, `name@REALM`, with `\` before an `@`, `/` or `\`
 * within a component.
 *
 * @throws RangeError when it is not a principal.
 */
export function parsePrincipalName(text: string): KerberosPrincipal {
  const [, name, realm] = PRINCIPAL.exec(text) ?? [];
  if (name === undefined) {
    throw new RangeError('A principal name must be of the form name@REALM');
  }
  return {
    realm: unescapeComponent(realm),
    nameType: NT_PRINCIPAL,
    components: (name.match(new RegExp(COMPONENT, 'g')) ?? []).map(
      unescapeComponent,
    ),
  };
}

function unescapeComponent(component: string): string {
  return component.replace(/\\(.)/g, '$1');
}
