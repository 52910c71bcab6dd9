import { describeRevocation } from '../__testUtils__/describeRevocation';
import { sqlite } from '../__testUtils__/TestDatabase';

describeRevocation(sqlite);
