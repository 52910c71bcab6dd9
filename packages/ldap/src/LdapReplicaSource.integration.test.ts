import { ConfigReader } from '@backstage/config';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { schemaPreset } from '@directory-gateway/directory-core';
import { describeReplicaSource } from './__testUtils__/describeReplicaSource';
import {
  createLdapReader,
  openLdapPool,
  ldapOf,
} from './__testUtils__/openLdap';
import { readLdapConfig } from './connection/LdapConfig';
import { LdapReplicaSource } from './LdapReplicaSource';

jest.setTimeout(180_000);

describeReplicaSource('LdapReplicaSource', {
  open: (realm, ldap) => {
    const logger = new RecordingLogger();
    const searcher = openLdapPool(realm, logger, ldap);
    const source = new LdapReplicaSource({
      reader: createLdapReader({ realm, searcher, logger }),
      schema: schemaPreset('fas'),
      ldap: readLdapConfig(new ConfigReader({ ...ldapOf(realm), ...ldap })),
    });
    return { source, close: () => searcher.close() };
  },
});
