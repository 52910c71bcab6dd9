import { exportForAll } from '../__testUtils__/gateway/directoryConfig';
import { withGateway } from '../__testUtils__/gateway/withGateway';
import { describeContract } from '../__testUtils__/suites/describeContract';
import {
  describeExtensions,
  describeOutage,
} from '../__testUtils__/suites/describeExtensions';
import { describeGroupNames } from '../__testUtils__/suites/describeGroupNames';
import { describeReads } from '../__testUtils__/suites/describeReads';
import { describeVisibility } from '../__testUtils__/visibility/describeVisibility';
import {
  BASE_URL,
  describeBaseUrl,
} from './fasjson/__testUtils__/describeBaseUrl';

jest.setTimeout(600_000);

/**
 * A portal with the policy of docs/privacy.md, which applies to portal users
 * and not to callers with a ticket.
 */
const site = withGateway({
  configure: () => ({
    entry: 'visibilityPortal',
    guest: 'user:development/guest',
    kerberosSignIn: { resolvers: [{ resolver: 'directoryUser' }] },
    directory: {
      access: exportForAll,
      portalUsers: { namespace: 'default', username: 'entityName' },
      replica: { maxStaleness: '20s' },
      sessions: { enabled: false },
    },
  }),
});

describeReads(site);
describeContract(site);
describeExtensions(site);
describeVisibility(site);

describe('with the freeipa schema', () => {
  const freeipa = withGateway({
    within: site,
    configure: () => ({
      directory: {
        schema: 'freeipa',
        access: exportForAll,
        fasjson: { enabled: true, baseUrl: `${BASE_URL}/` },
      },
    }),
  });

  describeGroupNames(freeipa);
  describeBaseUrl(freeipa);
});

describeOutage(site);
