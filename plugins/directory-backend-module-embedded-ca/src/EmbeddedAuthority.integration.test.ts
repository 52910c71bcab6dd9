import { describeEmbeddedAuthority } from './__testUtils__/describeEmbeddedAuthority';
import { postgres } from './__testUtils__/TestDatabase';

jest.setTimeout(60_000);

describeEmbeddedAuthority(postgres);
