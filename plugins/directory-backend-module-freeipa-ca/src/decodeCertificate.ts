import { X509Certificate } from 'node:crypto';
import {
  AuthorityProtocolError,
  type ExpiringCertificate,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type RpcRecord,
  type RpcValue,
  isRpcRecord,
  single,
  toBigInt,
} from './rpc/RpcCommand';

/** Of a certificate revoked without one (RFC 5280 §5.3.1, `unspecified`). */
const NO_REASON = 0;

/**
 * The certificate in a result of `cert_request`, `cert_show` or `cert_find`
 * with `all` (`ipaserver/plugins/cert.py`). What the certificate itself says is
 * taken from its DER, not from FreeIPA's description of it.
 *
 * @throws AuthorityProtocolError when there is none, or FreeIPA's description
 * is of another.
 */
export function decodeCertificate(record: RpcRecord): IssuedCertificate {
  const certificate = readDer(record.certificate);
  const parsed = parse(certificate);
  const described = toBigInt(single(record.serial_number));
  if (described !== undefined && described !== serialNumberOf(parsed)) {
    throw new AuthorityProtocolError(
      `FreeIPA describes certificate ${serialNumberOf(parsed)} as ${described}`,
    );
  }
  const chain = list(record.certificate_chain).map(readDer).map(parse);
  const cacn = single(record.cacn);
  if (typeof cacn !== 'string') {
    throw new AuthorityProtocolError('FreeIPA does not say which CA signed');
  }
  return {
    certificate,
    chain: orderChain(parsed, chain).map(({ raw }) => raw),
    cacn,
    revocation: readRevocation(record),
    owners: list(record.owner_user).filter(owner => typeof owner === 'string'),
  };
}

/** The serial number, exact to the last of its up to 160 bits. */
export function serialNumberOf(certificate: X509Certificate): bigint {
  return BigInt(`0x${certificate.serialNumber}`);
}

/** Base64, which may hold line ends, or `{"__base64__": …}`. */
function readDer(value: RpcValue | undefined): Buffer {
  const text = isRpcRecord(value) ? value.__base64__ : value;
  if (typeof text !== 'string') {
    throw new AuthorityProtocolError('FreeIPA sent no certificate');
  }
  return Buffer.from(text.replace(/\s/g, ''), 'base64');
}

function parse(der: Buffer): X509Certificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(der);
  } catch (error) {
    throw new AuthorityProtocolError(
      'FreeIPA sent a certificate that cannot be read',
      error,
    );
  }
  if (!certificate.raw.equals(der)) {
    throw new AuthorityProtocolError(
      'FreeIPA sent a certificate with something after it',
    );
  }
  return certificate;
}

/** `cert_request` leaves `revoked` out. */
function readRevocation(
  record: RpcRecord,
): IssuedCertificate['revocation'] | undefined {
  if (record.revoked !== true) {
    return undefined;
  }
  const reason = Number(
    toBigInt(single(record.revocation_reason)) ?? NO_REASON,
  );
  const known = reason >= 0 && reason <= 10 && reason !== 7;
  return { reason: known ? reason : NO_REASON };
}

function list(value: RpcValue | undefined): readonly RpcValue[] {
  return Array.isArray(value) ? value : [];
}

/**
 * A certificate and those above it, each signed by the next. FreeIPA takes its
 * chain out of a PKCS #7 structure, in which certificates are a set (RFC 2315
 * §9.1) and come in whatever order Dogtag put them.
 *
 * @param leaf - the certificate that comes first.
 * @param others - those above it, in any order, the leaf perhaps among them;
 * what does not belong to the chain is left out.
 */
export function orderChain(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
): readonly X509Certificate[] {
  const chain = [leaf];
  const rest = new Map(others.map(other => [other.fingerprint256, other]));
  rest.delete(leaf.fingerprint256);
  for (;;) {
    const top = chain.at(-1)!;
    const above = [...rest.values()].find(candidate =>
      top.checkIssued(candidate),
    );
    if (!above) {
      return chain;
    }
    chain.push(above);
    rest.delete(above.fingerprint256);
  }
}

/** As RFC 4514 writes it; a login has no character that it would escape. */
const COMMON_NAME = /^CN=([A-Za-z0-9_.$-]+)(?:,|$)/i;

/**
 * The certificates in an answer to `cert_find` without `all` that are some
 * user's and not revoked. FreeIPA does not name owners here, but it issues to a
 * user only what has their login as CN (`ipaserver/plugins/cert.py`,
 * `cert_request.execute`); the CN of others is a host name.
 *
 * @throws AuthorityProtocolError when it is not a whole list.
 */
export function decodeExpiring(
  { result, truncated }: RpcRecord,
  options: { readonly cacn: string },
): readonly ExpiringCertificate[] {
  if (!Array.isArray(result) || !result.every(isRpcRecord) || truncated) {
    throw new AuthorityProtocolError(
      'FreeIPA answered cert_find without a whole list',
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

function decodeRecord(record: RpcRecord, username: string): ExpiringCertificate {
  const serialNumber = toBigInt(single(record.serial_number));
  if (serialNumber === undefined) {
    throw new AuthorityProtocolError('FreeIPA tells no serial number');
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
    throw new AuthorityProtocolError('FreeIPA tells no time of validity');
  }
  return time;
}
