import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type {
  CertificateFields,
  KerberosPrincipal,
  WritableGeneralName,
} from '@directory-gateway/x509';
import type { CaIssuer } from './CaIssuer';
import type { CertificateProfile } from './profiles';

/**
 * Returns the start of validity of data that is signed now, in milliseconds
 * since 1970: 5 minutes earlier, the clock skew that Kerberos tolerates.
 */
export function backdated(now: number): Date {
  return new Date(now - 5 * 60 * 1000);
}

/**
 * Composes the fields of a certificate from the request and the profile. Of the
 * CSR, only the key is used.
 *
 * @param options - `baseUrl`: URL of the CA's documents; `now`: milliseconds
 *   since 1970
 * @throws AuthorityRefusalError when a principal is invalid.
 * @throws AuthorityUnavailableError when the CA's chain is not valid.
 */
export function composeCertificate(
  request: SigningRequest,
  options: {
    readonly issuer: CaIssuer;
    readonly profile: CertificateProfile;
    readonly organization: string;
    readonly baseUrl: string;
    readonly now: number;
  },
): CertificateFields & { readonly spki: Buffer } {
  const { issuer, profile, organization, baseUrl, now } = options;
  // Within the validity of the issuer's chain.
  const { notBefore, notAfter } = issuer.validity;
  const start = new Date(Math.max(backdated(now).getTime(), notBefore));
  const end = new Date(Math.min(now + profile.validityMs, notAfter));
  if (now > notAfter || start >= end) {
    const [from, to] = [notBefore, notAfter].map(ms => new Date(ms));
    throw new AuthorityUnavailableError(
      `The CA is valid from ${from.toISOString()} to ${to.toISOString()}`,
    );
  }
  const { emails, userPrincipalNames, kerberosPrincipalNames } =
    request.alternativeNames;
  const alternativeNames: readonly WritableGeneralName[] = [
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
  return {
    notBefore: start,
    notAfter: end,
    serialNumber: request.serialNumber,
    subject: [
      { type: 'O', value: organization },
      { type: 'CN', value: request.username },
    ],
    spki: request.publicKey,
    extensions: {
      keyUsage: profile.keyUsage,
      extendedKeyUsage: profile.extendedKeyUsage,
      ...(alternativeNames.length > 0 && { alternativeNames }),
      crlDistributionPoints: [`${baseUrl}/crl`],
      caIssuers: [`${baseUrl}/certificate`],
    },
  };
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
 * @throws AuthorityRefusalError when it is not a principal.
 */
export function parsePrincipalName(text: string): KerberosPrincipal {
  const [, name, realm] = PRINCIPAL.exec(text) ?? [];
  if (name === undefined) {
    throw new AuthorityRefusalError(
      'A principal name must be of the form name@REALM.',
    );
  }
  const unescape = (component: string) => component.replace(/\\(.)/g, '$1');
  return {
    realm: unescape(realm),
    nameType: NT_PRINCIPAL,
    components: (name.match(new RegExp(COMPONENT, 'g')) ?? []).map(unescape),
  };
}
