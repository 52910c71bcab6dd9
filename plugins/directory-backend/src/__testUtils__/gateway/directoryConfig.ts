import type { JsonObject } from '@backstage/types';

const openToAll = {
  principals: ['*'],
  operations: ['directory.read', 'directory.certificate.sign'],
};

/** The `directory.access` of a gateway where everybody may export. */
export const allMayExport: JsonObject[] = [
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
export const someMayDoMore: JsonObject[] = [
  openToAll,
  {
    principals: ['dave'],
    operations: ['directory.certificate.revoke'],
  },
  { principals: ['alice'], operations: ['directory.replica.accept'] },
];
