import { startRealm } from '@directory-gateway/realm';
import { openReplica } from '../__testUtils__/ldap/openReplica';
import { describeDirectory } from '../__testUtils__/conformance/describeDirectory';

jest.setTimeout(180_000);

describe.each([
  { schema: 'fas', searches: 4000 },
  { schema: 'freeipa', searches: 400 },
] as const)('A replica', ({ schema, searches }) => {
  describeDirectory('ReplicaDirectory', {
    schema,
    searches,
    startRealm,
    create: realm => openReplica({ realm, schema }),
  });
});
