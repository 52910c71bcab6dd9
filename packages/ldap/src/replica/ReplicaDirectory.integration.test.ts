import { startRealm } from '@directory-gateway/realm';
import { describeDirectory } from '@directory-gateway/directory-core/testUtils';
import { openReplica } from '../__testUtils__/openReplica';

jest.setTimeout(180_000);

/** Number of random searches; `make trials` sets a higher number. */
const searches = Number(process.env.SEARCHES || 300);

describe.each(['fas', 'freeipa'] as const)('A replica (%s)', schema => {
  describeDirectory('ReplicaDirectory', {
    schema,
    searches,
    startRealm,
    create: realm => openReplica({ realm, schema }),
  });
});
