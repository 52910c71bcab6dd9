import { createHash } from 'node:crypto';
import {
  Certificate,
  type CertificateDescription,
  type CertificateFields,
  type GeneralName,
  KEY_PURPOSES,
  type KerberosPrincipal,
  type WritableGeneralName,
} from '@directory-gateway/x509';
import type { CaIssuer } from './CaIssuer';
import {
  type SignCertificateRequest,
  SignerRefusalError,
  SignerUnavailableError,
} from './CertificateSigner';
import type { CertificateProfile } from './profiles';

/** Input of {@link makeCertificate}. */
export interface CertificateInput {
  readonly request: SignCertificateRequest;
  /** SubjectPublicKeyInfo of the CSR, whose proof of possession was verified. */
  readonly spki: Buffer;
  readonly profile: CertificateProfile;
  readonly ca: CaIssuer;
  /** URLs of the CA's CRL and certificate. */
  readonly urls: { readonly crl: string; readonly certificate: string };
}

/** `ub-common-name` of RFC 5280 appendix A.1. */
const MAX_COMMON_NAME_LENGTH = 64;

/**
 * Signs a certificate, and checks it before returning it.
 *
 * @returns DER
 * @throws SignerRefusalError when a name cannot be written to a certificate.
 * @throws SignerUnavailableError when the key cannot sign, or the certificate
 *   fails the self-check.
 */
export async function makeCertificate(
  input: CertificateInput,
): Promise<Buffer> {
  try {
    const fields = composeFields(input);
    const der = await input.ca.issuer.signCertificate({
      ...fields,
      spki: input.spki,
    });
    checkCertificate(der, { ...input, fields });
    return der;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new SignerRefusalError(
        `The certificate cannot be written: ${error.message}.`,
      );
    }
    throw error instanceof SignerUnavailableError
      ? error
      : new SignerUnavailableError('The certificate was not signed', error);
  }
}

/**
 * Composes the fields from the user and the profile. Of the CSR, only the key is
 * used.
 *
 * @throws RangeError when a name cannot be written to a certificate.
 */
function composeFields(input: CertificateInput): CertificateFields {
  const { request, profile, urls } = input;
  if ([...request.username].length > MAX_COMMON_NAME_LENGTH) {
    throw new RangeError(
      `A user name in a certificate must have at most ${MAX_COMMON_NAME_LENGTH} characters`,
    );
  }
  const alternativeNames = composeAlternativeNames(request);
  return {
    serialNumber: request.serialNumber,
    subject: [
      { type: 'O', value: profile.organization },
      { type: 'CN', value: request.username },
    ],
    notBefore: request.notBefore,
    notAfter: request.notAfter,
    extensions: {
      basicConstraints: { ca: false },
      keyUsage: profile.keyUsage,
      extendedKeyUsage: profile.extendedKeyUsage,
      ...(alternativeNames.length > 0 && { alternativeNames }),
      crlDistributionPoints: [urls.crl],
      ...(profile.policies.length > 0 && {
        certificatePolicies: profile.policies,
      }),
      caIssuers: [urls.certificate],
    },
  };
}

function composeAlternativeNames({
  alternativeNames: { emails, userPrincipalNames, kerberosPrincipalNames },
}: SignCertificateRequest): WritableGeneralName[] {
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
 * Parses the certificate and compares each field with the intended value, so
 * that a defect in the code or the hardware does not result in an incorrect
 * certificate with a valid signature. The signature itself was verified when it
 * was made.
 *
 * @throws Error that lists the differences.
 */
function checkCertificate(
  der: Buffer,
  expected: CertificateInput & { readonly fields: CertificateFields },
): void {
  const { description } = new Certificate(der);
  if (!description.ok) {
    throw new Error(`Invalid certificate: ${description.code}`);
  }
  const actual = factsOf(description.certificate);
  const wanted = expectedFacts(expected);
  const failed = Object.keys(wanted).filter(
    name => JSON.stringify(actual[name]) !== JSON.stringify(wanted[name]),
  );
  if (failed.length > 0) {
    throw new Error(`Invalid certificate: ${failed.join(', ')}`);
  }
}

/** Fields of a certificate in a form that can be compared. */
type Facts = Readonly<Record<string, unknown>>;

function factsOf(certificate: CertificateDescription): Facts {
  return {
    serialNumber: certificate.serialNumber.toString(),
    issuer: certificate.issuer,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    subject: certificate.subjectName.rdns.map(rdn =>
      rdn.map(({ oid, value, stringType }) => [oid, value, stringType]),
    ),
    publicKey: certificate.publicKey.sha256,
    authorityKeyIdentifier: certificate.authorityKeyIdentifier,
    ca: certificate.ca,
    keyUsage: [...(certificate.keyUsage ?? [])].sort(),
    extendedKeyUsage: certificate.extendedKeyUsage?.map(oidOfPurpose),
    alternativeNames: certificate.alternativeNames.map(factOfName),
    crlDistributionPoints: certificate.crlDistributionPoints,
    certificatePolicies: certificate.certificatePolicies,
    caIssuers: certificate.caIssuers,
    unreadableExtensions: certificate.unreadableExtensions,
  };
}

function factOfName(name: GeneralName): unknown {
  return name.kind === 'krb5PrincipalName'
    ? [name.kind, name.principal]
    : [name.kind, 'value' in name ? name.value : undefined];
}

const PURPOSE_OIDS: ReadonlyMap<string, string> = new Map(
  Object.entries(KEY_PURPOSES),
);

/** A profile may contain the OID of a purpose that has a name. */
function oidOfPurpose(purpose: string): string {
  return PURPOSE_OIDS.get(purpose) ?? purpose;
}

/** Object identifiers of RFC 4519 §2. */
const ORGANIZATION = '2.5.4.10';
const COMMON_NAME = '2.5.4.3';

function expectedFacts(
  input: CertificateInput & { readonly fields: CertificateFields },
): Facts {
  const { request, profile, ca, urls, spki } = input;
  const own = ca.issuer.certificate;
  return {
    serialNumber: request.serialNumber.toString(),
    issuer: own.subject,
    notBefore: wholeSecond(request.notBefore),
    notAfter: wholeSecond(request.notAfter),
    subject: [
      [[ORGANIZATION, profile.organization, 'utf8']],
      [[COMMON_NAME, request.username, 'utf8']],
    ],
    publicKey: createHash('sha256').update(spki).digest('hex'),
    ...(own.subjectKeyIdentifier !== undefined && {
      authorityKeyIdentifier: own.subjectKeyIdentifier,
    }),
    ca: false,
    keyUsage: [...new Set(profile.keyUsage)].sort(),
    extendedKeyUsage: profile.extendedKeyUsage.map(oidOfPurpose),
    alternativeNames: composeAlternativeNames(request).map(name =>
      name.kind === 'krb5PrincipalName'
        ? [name.kind, name.principal]
        : [name.kind, name.value],
    ),
    crlDistributionPoints: [urls.crl],
    certificatePolicies: profile.policies,
    caIssuers: [urls.certificate],
    unreadableExtensions: [],
  };
}

function wholeSecond(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}

/** NT-PRINCIPAL (RFC 4120 §6.2): a user, as in a request from `kinit`. */
const NT_PRINCIPAL = 1;

/** A component: characters that are not separators, or escaped separators. */
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
