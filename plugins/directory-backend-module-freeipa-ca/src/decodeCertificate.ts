import {
  AuthorityProtocolError,
  type IssuedCertificate,
  type SignedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  type CertificateDescription,
} from '@directory-gateway/x509';
import { X509Certificate } from 'node:crypto';
import { type RpcRecord, type RpcValue, isRpcRecord } from './rpc';

/**
 * Decodes a certificate in a result of `cert_request`, `cert_show` or
 * `cert_find` with `all` (`ipaserver/plugins/cert.py`). Properties of the
 * certificate are read from its DER, not from FreeIPA's description of it.
 *
 * @throws AuthorityProtocolError when the certificate is not valid.
 */
export function decodeCertificate(
  record: RpcValue | undefined,
): SignedCertificate & Pick<IssuedCertificate, 'revocation' | 'owners'> {
  if (!isRpcRecord(record)) {
    throw new AuthorityProtocolError('FreeIPA did not return a certificate');
  }
  const leaf = readCertificate(record.certificate);
  const certificate = new Certificate(leaf.raw);
  describe({ certificate });
  const issuers = list(record.certificate_chain).map(readCertificate);
  return {
    certificate,
    chain: orderChain(leaf, issuers).map(({ raw }) => raw),
    revocation: readRevocation(record),
    owners: list(record.owner_user).filter(owner => typeof owner === 'string'),
  };
}

/** @throws AuthorityProtocolError when the certificate cannot be read. */
export function describe({
  certificate,
}: Pick<SignedCertificate, 'certificate'>): CertificateDescription {
  const { description } = certificate;
  if (!description.ok) {
    throw new AuthorityProtocolError(description.message);
  }
  return description.certificate;
}

/** Reads Base64, which may contain line breaks, or `{"__base64__": …}`. */
function readCertificate(value: RpcValue | undefined): X509Certificate {
  const text = isRpcRecord(value) ? value.__base64__ : value;
  if (typeof text !== 'string') {
    throw new AuthorityProtocolError('FreeIPA did not return a certificate');
  }
  try {
    return new X509Certificate(Buffer.from(text, 'base64'));
  } catch (error) {
    throw new AuthorityProtocolError(
      'FreeIPA returned an invalid certificate',
      { cause: error },
    );
  }
}

/**
 * `cert_request` does not return `revoked`. A revocation without a known reason
 * is `unspecified` (0).
 */
function readRevocation(record: RpcRecord): IssuedCertificate['revocation'] {
  const reason = Number([record.revocation_reason].flat()[0] ?? 0);
  const isKnown =
    Number.isInteger(reason) && reason >= 0 && reason <= 10 && reason !== 7;
  return record.revoked === true ? { reason: isKnown ? reason : 0 } : undefined;
}

function list(value: RpcValue | undefined): readonly RpcValue[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Orders a chain so that each certificate is signed by the next. FreeIPA reads
 * it from a PKCS #7 structure, in which certificates are a set (RFC 2315 §9.1).
 *
 * @param others - issuers in any order, possibly with the leaf; certificates
 *   that do not belong to the chain are omitted
 */
function orderChain(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
): readonly X509Certificate[] {
  const chain = [leaf];
  for (;;) {
    const last = chain.at(-1)!;
    const issuer = others.find(
      other =>
        last.checkIssued(other) &&
        !chain.some(one => one.raw.equals(other.raw)),
    );
    if (!issuer) {
      return chain;
    }
    chain.push(issuer);
  }
}
