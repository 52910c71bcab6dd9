import {
  AuthorityProtocolError,
  type ExpiringCertificate,
  type IssuedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate } from '@directory-gateway/x509';
import { X509Certificate, createPublicKey } from 'node:crypto';
import {
  type RpcRecord,
  type RpcValue,
  isRpcRecord,
  single,
  toBigInt,
} from './rpc/RpcCommand';

/**
 * Reason for a revocation without a reason (RFC 5280 §5.3.1, `unspecified`).
 */
const NO_REASON = 0;

/**
 * Decodes a certificate in a result of `cert_request`, `cert_show` or
 * `cert_find` with `all` (`ipaserver/plugins/cert.py`). Properties of the
 * certificate are read from its DER, not from FreeIPA's description of it.
 *
 * @throws AuthorityProtocolError when there is no valid certificate, or
 *   FreeIPA's description does not match it.
 */
export function decodeCertificate(record: RpcRecord): IssuedCertificate {
  const leaf = parse(readDer(record.certificate));
  const serialNumber = BigInt(`0x${leaf.serialNumber}`);
  const described = toBigInt(single(record.serial_number));
  if (described !== undefined && described !== serialNumber) {
    throw new AuthorityProtocolError(
      `FreeIPA describes certificate ${serialNumber} as ${described}`,
    );
  }
  const chain = list(record.certificate_chain).map(readDer).map(parse);
  const cacn = single(record.cacn);
  if (typeof cacn !== 'string') {
    throw new AuthorityProtocolError('FreeIPA does not name the issuing CA');
  }
  return {
    certificate: new Certificate(leaf.raw),
    chain: orderChain(leaf, chain).map(({ raw }) => raw),
    cacn,
    revocation: readRevocation(record),
    owners: list(record.owner_user).filter(owner => typeof owner === 'string'),
  };
}

/** Returns the serial number, which has up to 160 bits. */
export function serialNumberOf({ certificate }: IssuedCertificate): bigint {
  return BigInt(`0x${new X509Certificate(certificate.der).serialNumber}`);
}

/** Returns whether a certificate is for the key of a request. */
export function isKeyOf(
  { certificate }: IssuedCertificate,
  request: SigningRequest,
): boolean {
  const key = createPublicKey({
    key: request.publicKey,
    format: 'der',
    type: 'spki',
  });
  return new X509Certificate(certificate.der).publicKey.equals(key);
}

/** Decodes Base64, which may contain line breaks, or `{"__base64__": …}`. */
function readDer(value: RpcValue | undefined): Buffer {
  const text = isRpcRecord(value) ? value.__base64__ : value;
  if (typeof text !== 'string') {
    throw new AuthorityProtocolError('FreeIPA did not return a certificate');
  }
  return Buffer.from(text.replace(/\s/g, ''), 'base64');
}

function parse(der: Buffer): X509Certificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(der);
  } catch (error) {
    throw new AuthorityProtocolError(
      'FreeIPA returned an invalid certificate',
      error,
    );
  }
  if (!certificate.raw.equals(der)) {
    throw new AuthorityProtocolError(
      'FreeIPA returned a certificate with trailing bytes',
    );
  }
  return certificate;
}

/** `cert_request` does not return `revoked`. */
function readRevocation(
  record: RpcRecord,
): IssuedCertificate['revocation'] | undefined {
  if (record.revoked !== true) {
    return undefined;
  }
  const reason = Number(
    toBigInt(single(record.revocation_reason)) ?? NO_REASON,
  );
  const isKnown = reason >= 0 && reason <= 10 && reason !== 7;
  return { reason: isKnown ? reason : NO_REASON };
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
  const rest = new Map(others.map(other => [other.fingerprint256, other]));
  rest.delete(leaf.fingerprint256);
  for (;;) {
    const last = chain.at(-1)!;
    const issuer = [...rest.values()].find(other => last.checkIssued(other));
    if (!issuer) {
      return chain;
    }
    chain.push(issuer);
    rest.delete(issuer.fingerprint256);
  }
}

/**
 * Text of the subject (RFC 4514); a login does not contain characters that
 * require escaping.
 */
const COMMON_NAME = /^CN=([A-Za-z0-9_.$-]+)(?:,|$)/i;

/**
 * Decodes the users' certificates in a result of `cert_find` without `all`,
 * except revoked ones. The result does not contain owners, but FreeIPA issues
 * certificates to users only with the login as CN (`ipaserver/plugins/cert.py`,
 * `cert_request.execute`); the CN of other certificates is a host name.
 *
 * @throws AuthorityProtocolError when the result is not a complete list.
 */
export function decodeExpiring(
  { result, truncated }: RpcRecord,
  options: { readonly cacn: string },
): readonly ExpiringCertificate[] {
  if (!Array.isArray(result) || !result.every(isRpcRecord) || truncated) {
    throw new AuthorityProtocolError(
      'FreeIPA did not return a complete list for cert_find',
    );
  }
  return result
    .filter(({ cacn, revoked }) => cacn === options.cacn && revoked !== true)
    .flatMap(record => {
      const [, username] =
        COMMON_NAME.exec(String(single(record.subject))) ?? [];
      return username === undefined ? [] : [decodeRecord(record, username)];
    });
}

function decodeRecord(
  record: RpcRecord,
  username: string,
): ExpiringCertificate {
  const serialNumber = toBigInt(single(record.serial_number));
  if (serialNumber === undefined) {
    throw new AuthorityProtocolError('FreeIPA did not return a serial number');
  }
  return {
    serialNumber,
    username,
    notBefore: readTime(record.valid_not_before),
    notAfter: readTime(record.valid_not_after),
  };
}

/** `Tue May 05 06:22:53 2020 UTC`. */
function readTime(value: RpcValue | undefined): Date {
  const time = new Date(String(single(value)));
  if (Number.isNaN(time.getTime())) {
    throw new AuthorityProtocolError(
      'FreeIPA did not return a time of validity',
    );
  }
  return time;
}
