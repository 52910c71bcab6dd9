import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type SigningAuthority,
  backdated,
} from '../authority/SigningAuthority';
import type { CertificateProfile } from './CertificateProfile';
import type { CertificateRecord } from './CertificateStore';
import {
  type CertificateFields,
  type KerberosPrincipal,
  type WritableGeneralName,
  describeCertificate,
} from '@directory-gateway/x509';
import { X509Certificate, createHash } from 'node:crypto';

/** What a certificate is made of. */
export interface CertificateInput {
  readonly request: SigningRequest;
  readonly profile: CertificateProfile;
  readonly authority: SigningAuthority;
  /** The serial number and the times that it must have. */
  readonly reserved: CertificateRecord;
}

/**
 * Signs a certificate, and reads it back before anybody gets it.
 *
 * @returns DER
 * @throws AuthorityRefusalError when a name cannot be in a certificate.
 * @throws AuthorityUnavailableError when the certificate fails the check.
 */
export function makeCertificate(
  order: CertificateInput & { readonly crlUrl: string },
): Buffer {
  const { request, authority, reserved: reservation } = order;
  const { publicKey } = request;
  try {
    const fields = composeCertificate({ ...order, reservation });
    const certificate = authority.issuer.signCertificate({
      ...fields,
      spki: publicKey,
    });
    checkCertificate(certificate, { fields, publicKey, authority });
    return certificate;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new AuthorityRefusalError(
        `The certificate cannot be written: ${error.message}.`,
      );
    }
    throw new AuthorityUnavailableError('The certificate went wrong', error);
  }
}

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

/**
 * Reads a certificate back before anybody gets it: a fault of the machine or of
 * the code must not leave the house with a signature under it.
 *
 * @throws Error that names what is wrong.
 */
export function checkCertificate(
  der: Buffer,
  expected: {
    readonly fields: CertificateFields;
    readonly publicKey: Buffer;
    readonly authority: SigningAuthority;
  },
): void {
  const { fields, publicKey, authority } = expected;
  if (!new X509Certificate(der).verify(authority.publicKey)) {
    throw new Error('The new certificate fails the check: its signature');
  }
  const description = describeCertificate(der);
  if (!description.ok) {
    throw new Error(`The new certificate fails the check: ${description.code}`);
  }
  const { certificate } = description;
  const facts: Record<string, boolean> = {
    serialNumber: certificate.serialNumber === fields.serialNumber,
    issuer: certificate.issuer === authority.issuer.certificate.subject,
    notBefore: certificate.notBefore === fields.notBefore.getTime(),
    notAfter: certificate.notAfter === fields.notAfter.getTime(),
    publicKey: certificate.publicKey.sha256 === sha256(publicKey),
    ca: !certificate.ca,
    alternativeNames:
      certificate.alternativeNames.length ===
      (fields.extensions.alternativeNames ?? []).length,
    extensions: certificate.unreadableExtensions.length === 0,
  };
  const wrong = Object.keys(facts).filter(fact => !facts[fact]);
  if (wrong.length > 0) {
    throw new Error(`The new certificate fails the check: ${wrong.join(', ')}`);
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * When a certificate that is signed now is valid, in whole seconds as
 * certificates have it (RFC 5280 §4.1.2.5). Never outside of the authority's
 * own time: a chain is valid only while all of it is.
 *
 * @throws AuthorityUnavailableError when the authority's time is over.
 */
export function validityOf(
  { validityMs }: CertificateProfile,
  options: { readonly now: number; readonly authority: SigningAuthority },
): { readonly notBefore: Date; readonly notAfter: Date } {
  const { now, authority } = options;
  const own = authority.issuer.certificate;
  const notBefore = wholeSecond(
    Math.max(backdated(now).getTime(), own.notBefore),
  );
  const notAfter = wholeSecond(Math.min(now + validityMs, own.notAfter));
  if (now > own.notAfter || notBefore >= notAfter) {
    throw new AuthorityUnavailableError(
      `The authority's own certificate is valid from ${own.validNotBefore} to ${own.validNotAfter}`,
    );
  }
  return { notBefore, notAfter };
}

function wholeSecond(milliseconds: number): Date {
  return new Date(Math.floor(milliseconds / 1000) * 1000);
}

/** NT-PRINCIPAL (RFC 4120 §6.2): a user, as `kinit` asks for one. */
const NT_PRINCIPAL = 1;

/** A part: characters that separate nothing, or are escaped. */
const PART = String.raw`(?:[^\\/@]|\\[\\/@])+`;
const PRINCIPAL = new RegExp(`^(${PART}(?:/${PART})*)@(${PART})$`);

/**
 * Reads a principal as Kerberos writes it, `name@REALM`, with `\` before an
 * `@`, `/` or `\` inside of a part.
 *
 * @throws RangeError when it is not one.
 */
export function parsePrincipalName(text: string): KerberosPrincipal {
  const [, name, realm] = PRINCIPAL.exec(text) ?? [];
  if (name === undefined) {
    throw new RangeError('A principal name must be of the form name@REALM');
  }
  return {
    realm: unescapePart(realm),
    nameType: NT_PRINCIPAL,
    components: (name.match(new RegExp(PART, 'g')) ?? []).map(unescapePart),
  };
}

function unescapePart(part: string): string {
  return part.replace(/\\(.)/g, '$1');
}
