import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import { join } from 'node:path';

const openToAll = {
  principals: ['*'],
  operations: ['directory.read', 'directory.certificate.sign'],
};

/** The `directory.access` of a gateway where everybody may export. */
export const exportForAll: JsonObject[] = [
  openToAll,
  {
    principals: ['*'],
    portalUsers: ['*'],
    operations: ['directory.read', 'directory.members.export'],
  },
];

/**
 * The `directory.access` of a gateway where dave may revoke, and alice may
 * override the mass-deletion guard.
 */
export const privilegedRules: JsonObject[] = [
  openToAll,
  {
    principals: ['dave'],
    operations: ['directory.certificate.revoke'],
  },
  { principals: ['alice'], operations: ['directory.replica.override'] },
];

/** The `certificates` block of a gateway that signs with a key of its own. */
export function embeddedAuthority(realm: Realm) {
  return {
    authority: 'embedded',
    embedded: {
      organization: realm.realm,
      keyFile: join(realm.dir, 'ca-key.pem'),
    },
  };
}
