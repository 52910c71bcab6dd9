import { X509Certificate } from 'node:crypto';
import {
  AuthorityProtocolError,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { orderChain } from './orderChain';
import {
  isRpcRecord,
  single,
  toBigInt,
  type RpcRecord,
  type RpcValue,
} from './rpc/RpcValue';

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
