import { Issuer } from '../issuing/Issuer';
import { signingKeyOf } from '../issuing/SigningKey';
import { CertificateFields, randomSerialNumber } from '../issuing/writeTbs';
import { createCaCertificate } from './createCaCertificate';
import { testKey } from './testKeys';

const NOW = Date.now();
/** Validity from a minute ago until tomorrow. */
export const validity = {
  notBefore: new Date(NOW - 60_000),
  notAfter: new Date(NOW + 86_400_000),
};
/** Name of the CA. */
export const caName = [
  { type: 'O', value: 'EXAMPLE.TEST' },
  { type: 'CN', value: 'Certificate Authority' },
] as const;

/** Creates a CA with a key of a type. */
export async function makeIssuer(
  kind: Parameters<typeof testKey>[0],
): Promise<Issuer> {
  const key = signingKeyOf(testKey(kind).privateKey);
  const certificate = await createCaCertificate({
    ...validity,
    subject: caName,
    key,
  });
  return Issuer.create({ certificate, key });
}

/**
 * Returns the fields of a certificate for alice with every extension, with the
 * given fields replaced.
 */
export function aliceFields(
  fields: Partial<CertificateFields> = {},
): CertificateFields {
  return {
    ...validity,
    serialNumber: randomSerialNumber(),
    subject: [
      { type: 'O', value: 'EXAMPLE.TEST' },
      { type: 'CN', value: 'älice' },
    ],
    extensions: {
      keyUsage: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: ['clientAuth', '1.3.6.1.5.2.3.4'],
      crlDistributionPoints: ['http://ca.example.test/ca.crl'],
      caIssuers: ['http://ca.example.test/ca.crt'],
      alternativeNames: [
        { kind: 'rfc822Name', value: 'alice@example.test' },
        { kind: 'userPrincipalName', value: 'alice@EXAMPLE.TEST' },
        {
          kind: 'krb5PrincipalName',
          principal: {
            realm: 'EXAMPLE.TEST',
            nameType: 1,
            components: ['alice'],
          },
        },
      ],
    },
    ...fields,
  };
}
