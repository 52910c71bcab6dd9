import { sign } from 'node:crypto';
import { keyIdentifier } from '../../issuing/writeExtensions';
import { writeName } from '../../issuing/writeNames';
import { writeTbsCertificate } from '../../issuing/writeTbs';
import { aliceFields, caName } from '../authority';
import { testKey } from '../testKeys';
import { bits, oid, seq } from '../tlv';

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
  const { privateKey, spki } = testKey('P-256');
  const algorithm = seq(oid('ecdsaWithSha256'));
  const tbs = writeTbsCertificate(
    { ...fields, spki },
    { name: writeName(caName), keyIdentifier: keyIdentifier(spki), algorithm },
  );
  return seq(tbs, algorithm, bits(sign('sha256', tbs, privateKey)));
}
