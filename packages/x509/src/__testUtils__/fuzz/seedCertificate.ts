import { aliceFields, makeIssuer } from '../authority';
import { testKey } from '../testKeys';

/** A certificate with every supported extension. */
export function seedCertificate(): Buffer {
  const fields = aliceFields({
    notBefore: new Date(0),
    notAfter: new Date('2060-01-01'),
    serialNumber: 12n,
    subject: [
      { type: 'O', value: 'test' },
      { type: 'CN', value: 'alice' },
    ],
  });
  const { spki } = testKey('P-256');
  return makeIssuer('P-256').signCertificate({ ...fields, spki });
}
