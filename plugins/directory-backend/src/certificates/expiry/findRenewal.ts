import type {
  CertificateAuthority,
  EndingCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  describeCertificate,
  type CertificateDescription,
} from '@directory-gateway/x509';

/**
 * A certificate of the same user that ends later, is valid now, and can do the
 * same: it has the same subject and the same key purposes. Names of profiles
 * are no part of certificates, and an authority need not remember them.
 */
export async function findRenewal(options: {
  readonly certificate: EndingCertificate;
  readonly described: CertificateDescription;
  readonly authority: Pick<CertificateAuthority, 'get' | 'listEnding'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}): Promise<CertificateDescription | undefined> {
  const { certificate, described, authority, now } = options;
  const later = await authority.listEnding?.({
    from: new Date(certificate.notAfter.getTime() + 1),
    username: certificate.username,
  });
  for (const { serialNumber, notBefore } of later ?? []) {
    const issued =
      notBefore.getTime() <= now
        ? await authority.get(serialNumber)
        : undefined;
    const other = issued && describeCertificate(issued.certificate);
    if (
      other?.ok &&
      !issued?.revocation &&
      isSameKind(other.certificate, described)
    ) {
      return other.certificate;
    }
  }
  return undefined;
}

function isSameKind(
  one: CertificateDescription,
  other: CertificateDescription,
): boolean {
  return one.subject === other.subject && purposesOf(one) === purposesOf(other);
}

function purposesOf({ extendedKeyUsage }: CertificateDescription): string {
  return [...(extendedKeyUsage ?? ['any'])].sort().join(' ');
}
