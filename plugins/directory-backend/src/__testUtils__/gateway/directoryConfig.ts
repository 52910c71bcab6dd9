import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import { issuerFiles } from '../certificates/issuerFiles';

const openToAll = {
  principals: ['*'],
  operations: ['directory.read', 'directory.certificate.sign'],
};

/** Rules of `directory.access` that allow exports to all callers. */
export const exportForAll: JsonObject[] = [
  openToAll,
  {
    principals: ['*'],
    portalUsers: ['*'],
    operations: ['directory.read', 'directory.members.export'],
  },
];

/**
 * Rules of `directory.access` that allow dave to revoke, and alice to override
 * the mass-deletion guard.
 */
export const privilegedRules: JsonObject[] = [
  openToAll,
  {
    principals: ['dave'],
    operations: ['directory.certificate.revoke'],
  },
  { principals: ['alice'], operations: ['directory.replica.override'] },
];

/**
 * Returns the `certificates` block of a gateway with the embedded CA.
 *
 * @param name - name of the CA; each database needs a different one. Default:
 *   `issuing-ca`
 */
export function embeddedAuthority(realm: Realm, name = 'issuing-ca') {
  return {
    authority: 'embedded',
    embedded: {
      organization: realm.realm,
      ...issuerFiles({ folder: realm.dir, name }),
    },
  };
}
