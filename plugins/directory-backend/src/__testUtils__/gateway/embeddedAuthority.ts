import type { Realm } from '@directory-gateway/realm';
import { join } from 'node:path';

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
