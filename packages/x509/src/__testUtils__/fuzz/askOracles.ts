import 'reflect-metadata';
import { Pkcs10CertificateRequest } from '@peculiar/x509';
import { CertificateRequest } from '../../request/CertificateRequest';
import { openssl } from '../openssl';

/**
 * What @peculiar/x509 holds against a request that was accepted; undefined when it agrees: it takes
 * the request, finds its signature right, and reads the same common names.
 */
export async function askPeculiar(
  request: CertificateRequest,
): Promise<string | undefined> {
  try {
    const theirs = new Pkcs10CertificateRequest(request.der);
    if (!(await theirs.verify())) {
      return 'the signature is wrong';
    }
    const names = theirs.subjectName.getField('CN');
    return names.join('\n') === request.subject.commonNames.join('\n')
      ? undefined
      : `the common names are ${names}`;
  } catch (error) {
    return String(error);
  }
}

/** What OpenSSL's command holds against it. */
export function askOpenssl(request: CertificateRequest): string | undefined {
  const { ok, output } = openssl(
    ['req', '-inform', 'DER', '-noout', '-verify'],
    {
      input: request.der,
    },
  );
  return ok && output.includes('verify OK') ? undefined : output;
}
