import { describeRevocation } from '../__testUtils__/describeRevocation';
import { sharedPostgres } from '../__testUtils__/sharedPostgres';

jest.setTimeout(600_000);

describeRevocation(sharedPostgres());
