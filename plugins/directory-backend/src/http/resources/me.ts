import { directoryReadPermission } from '@directory-gateway/backstage-plugin-directory-common';
import type { Operation } from '../api/Operation';
import { requireAccount } from '../api/requireAccount';
import { resolveFields, type RecordModel } from '../response/fieldMask';
import type { Dialect } from '../api/Dialect';

const meModel: RecordModel = {
  keys: ['dn', 'username', 'service', 'uri'],
  lists: new Set(),
};

/** The authenticated principal (contract, section 2.2). */
export function meOperation(options: { readonly dialect: Dialect }): Operation {
  const { dialect } = options;
  return {
    id: 'whoami',
    method: 'get',
    path: '/me/',
    permission: directoryReadPermission,
    async handle({ caller, fieldMask }) {
      const keys = resolveFields(fieldMask, meModel);
      const me = dialect.presentMe(requireAccount(caller));
      return { result: Object.fromEntries(keys.map(key => [key, me[key]])) };
    },
  };
}
