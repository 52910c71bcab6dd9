import 'reflect-metadata';
import { Pkcs10CertificateRequest } from '@peculiar/x509';
import { CertificateRequest } from '../../request/CertificateRequest';
import { openssl } from '../openssl';

/**
 * Checks an accepted request with @peculiar/x509, which must accept it, verify its signature and read
 * the same common names.
 *
 * @returns the disagreement, if any
 */
export async function verifyWithPeculiar(
  request: CertificateRequest,
): Promise<string | undefined> {
  try {
    const theirs = new Pkcs10CertificateRequest(request.der);
    if (!(await theirs.verify())) {
      return 'the signature is invalid';
    }
    const names = theirs.subjectName.getField('CN');
    return names.join('\n') === request.subject.commonNames.join('\n')
      ? undefined
      : `the common names are ${names}`;
  } catch (error) {
    return String(error);
  }
}

/** Checks an accepted request with the `openssl` command; returns the disagreement, if any. */
export function verifyWithOpenssl(
  request: CertificateRequest,
): string | undefined {
  const { ok, output } = openssl(
    ['req', '-inform', 'DER', '-noout', '-verify'],
    {
      input: request.der,
    },
  );
  return ok && output.includes('verify OK') ? undefined : output;
}
