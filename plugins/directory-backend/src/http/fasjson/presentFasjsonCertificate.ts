import type { HeldCertificate } from '../../certificates/HeldCertificate';
import type { RecordModel } from '../response/fieldMask';
import {
  certificateModel,
  presentCertificate,
} from '../response/presentCertificate';
import type { ResourceUris } from '../response/ResourceUris';

/** What the reference leaves out of what FreeIPA tells. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'san_rfc822name',
  'san_dnsname',
  'san_uri',
  'san_ipaddress',
  'san_directoryname',
  'san_oid',
  'owner_user',
  'revocation_reason',
]);

/** The keys of a certificate's record in the reference's order. */
export const fasjsonCertificateModel: RecordModel = {
  lists: certificateModel.lists,
  keys: certificateModel.keys.filter(key => !LEFT_OUT.has(key)),
};

/**
 * A certificate as the reference shows it: base64 on one line, and `revoked`
 * not known of one that was just signed, as FreeIPA does not tell it then.
 */
export function presentFasjsonCertificate(
  held: HeldCertificate,
  options: {
    readonly keys: readonly string[];
    readonly isNew: boolean;
    readonly uris: ResourceUris;
  },
): Record<string, unknown> {
  const { keys, isNew, uris } = options;
  const record = presentCertificate(held, keys, uris);
  return {
    ...record,
    ...('certificate' in record && {
      certificate: held.certificate.toString('base64'),
    }),
    ...('revoked' in record && isNew && { revoked: null }),
  };
}
