import { createCaCertificate } from '../../issuing/createCaCertificate';
import { Issuer } from '../../issuing/Issuer';
import { testKey } from '../testKeys';

/** A certificate with every supported extension. */
export function seedCertificate(): Buffer {
  const validity = { notBefore: new Date(0), notAfter: new Date('2060-01-01') };
  const { privateKey, spki } = testKey('P-256');
  const certificate = createCaCertificate({
    ...validity,
    subject: [{ type: 'CN', value: 'Certificate Authority' }],
    privateKey,
  });
  return Issuer.create({ certificate, privateKey }).signCertificate({
    ...validity,
    spki,
    serialNumber: 12n,
    subject: [
      { type: 'O', value: 'test' },
      { type: 'CN', value: 'alice' },
    ],
    extensions: {
      basicConstraints: { ca: false },
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: ['clientAuth'],
      crlDistributionPoints: ['http://example.test/crl'],
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
  });
}
