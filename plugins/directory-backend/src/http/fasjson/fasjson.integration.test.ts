import { embeddedAuthority } from '../../__testUtils__/gateway/directoryConfig';
import { withGateway } from '../../__testUtils__/gateway/withGateway';
import { describeDialect } from './__testUtils__/describeDialect';
import { describeDocuments } from './__testUtils__/describeDocuments';

jest.setTimeout(600_000);

/** The plugin with the dialect and the embedded CA. */
const site = withGateway({
  configure: realm => ({
    directory: {
      fasjson: { enabled: true },
      certificates: embeddedAuthority(realm),
    },
  }),
});

describeDocuments(site);
describeDialect(site);
