import { describeEmbeddedAuthority } from './__testUtils__/describeEmbeddedAuthority';
import { sqlite } from './__testUtils__/TestDatabase';

describeEmbeddedAuthority(sqlite);
