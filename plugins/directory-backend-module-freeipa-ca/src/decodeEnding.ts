import {
  AuthorityProtocolError,
  type EndingCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  isRpcRecord,
  single,
  toBigInt,
  type RpcRecord,
  type RpcValue,
} from './rpc/RpcValue';

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
export function decodeEnding(
  { result, truncated }: RpcRecord,
  options: { readonly cacn: string },
): readonly EndingCertificate[] {
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

function decodeRecord(record: RpcRecord, username: string): EndingCertificate {
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
