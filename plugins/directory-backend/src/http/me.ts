import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { Operation } from './Call';
import { requireAccount } from './requireAccount';
import { resolveFields, type RecordModel } from './request/fieldMask';
import type { Dialect } from './dialect/Dialect';

const meModel: RecordModel = {
  keys: ['dn', 'username', 'service', 'uri'],
  lists: new Set(),
};

/** Who is calling (contract, section 2.2). */
export function meOperation(options: { readonly dialect: Dialect }): Operation {
  const { uris } = options.dialect;
  return {
    id: 'whoami',
    method: 'get',
    path: '/me/',
    permission: directoryReadPermission,
    async handle({ caller, fieldMask }) {
      const keys = resolveFields(fieldMask, meModel);
      const { dn, username, service, served } = requireAccount(caller);
      const me: Record<string, unknown> = {
        dn,
        username: username ?? null,
        service: service ?? null,
        uri: served && username ? uris.user(username) : null,
      };
      return { result: Object.fromEntries(keys.map(key => [key, me[key]])) };
    },
  };
}
