import { describeStepCa } from './__testUtils__/describeStepCa';
import { FakeStepCa } from './__testUtils__/FakeStepCa';

/** Long, for OpenSSL's processes on a busy machine. */
jest.setTimeout(180_000);

describeStepCa({
  name: 'StepCaAuthority with recorded responses',
  start: () => FakeStepCa.start(),
});
