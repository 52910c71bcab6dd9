import { X509Certificate } from 'node:crypto';
import type { IssuedCertificate } from '../CertificateAuthority';

/** The name of the error with which it rejects, else what it resolves to. */
export async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return await work.catch(error => error.name);
}

/** Finds a certificate among others. */
export function isSame(one: IssuedCertificate) {
  return (other: IssuedCertificate) =>
    other.certificate.equals(one.certificate);
}

/** The number under which an authority finds it. */
export function serialNumberOf({ certificate }: IssuedCertificate): bigint {
  return BigInt(`0x${new X509Certificate(certificate).serialNumber}`);
}

/** The most specific CN: Node writes the subject in DER order, one a line. */
export function commonName({ subject }: X509Certificate): string | undefined {
  return subject
    .split('\n')
    .at(-1)
    ?.match(/^CN=(.*)$/)?.[1];
}
