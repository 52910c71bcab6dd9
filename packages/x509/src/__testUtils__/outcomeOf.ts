import { writePem } from '../der/pem';
import { CertificateRequest } from '../request/CertificateRequest';
import { readCertificateRequest } from '../request/readCertificateRequest';

/** `read`, or the code of the refusal. */
export function outcomeOf(der: Buffer): string {
  const result = readPem(der);
  return result.ok ? 'read' : result.code;
}

/** @throws Error when the request is refused */
export function requestOf(der: Buffer): CertificateRequest {
  const result = readPem(der);
  if (!result.ok) {
    throw new Error(result.message);
  }
  return result.csr;
}

function readPem(der: Buffer) {
  return readCertificateRequest(writePem('CERTIFICATE REQUEST', der));
}
