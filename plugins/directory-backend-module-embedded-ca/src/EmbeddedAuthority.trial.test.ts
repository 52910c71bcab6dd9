import { describeEmbeddedAuthority } from './__testUtils__/describeEmbeddedAuthority';
import { sharedPostgres } from './__testUtils__/sharedPostgres';

jest.setTimeout(600_000);

describeEmbeddedAuthority(sharedPostgres());
