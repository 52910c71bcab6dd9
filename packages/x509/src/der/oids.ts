/** Object identifiers by the names in their specifications. */
export const OID = {
  // Public keys: RFC 3279, RFC 4055, RFC 5480, RFC 8410
  rsaEncryption: '1.2.840.113549.1.1.1',
  ecPublicKey: '1.2.840.10045.2.1',
  ed25519: '1.3.101.112',
  prime256v1: '1.2.840.10045.3.1.7',
  secp384r1: '1.3.132.0.34',
  secp521r1: '1.3.132.0.35',

  // Signatures: RFC 4055, RFC 5758
  sha256WithRsaEncryption: '1.2.840.113549.1.1.11',
  sha384WithRsaEncryption: '1.2.840.113549.1.1.12',
  sha512WithRsaEncryption: '1.2.840.113549.1.1.13',
  rsassaPss: '1.2.840.113549.1.1.10',
  mgf1: '1.2.840.113549.1.1.8',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ecdsaWithSha384: '1.2.840.10045.4.3.3',
  ecdsaWithSha512: '1.2.840.10045.4.3.4',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',

  // Attributes of a request: RFC 2985 §5.4.2
  extensionRequest: '1.2.840.113549.1.9.14',

  // Attributes of a name: RFC 4519, RFC 2985 §5.2.1
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  domainComponent: '0.9.2342.19200300.100.1.25',
  emailAddress: '1.2.840.113549.1.9.1',

  // Extensions: RFC 5280 §§4.2, 5.2, 5.3
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  crlDistributionPoints: '2.5.29.31',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  caIssuers: '1.3.6.1.5.5.7.48.2',

  // Kinds of otherName: [MS-WCCE] §2.2.2.7.5, RFC 4556 §3.2.2
  userPrincipalName: '1.3.6.1.4.1.311.20.2.3',
  krb5PrincipalName: '1.3.6.1.5.2.2',
} as const;
