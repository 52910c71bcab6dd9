import fc from 'fast-check';
import { askOpenssl, askPeculiar } from '../__testUtils__/fuzz/askOracles';
import { FuzzInputs } from '../__testUtils__/fuzz/FuzzInputs';
import { seedRequests } from '../__testUtils__/fuzz/seedRequests';
import { CertificateRequest } from './CertificateRequest';
import { readCertificateRequest } from './readCertificateRequest';
import { refusalMessages } from '../refusals/RequestRefusal';

const inputs = new FuzzInputs();

/** Multiple of the random cases; `make trials` has more. */
const RUNS = Number(process.env.RUNS || 1);

jest.setTimeout(60_000 * RUNS);

it('refuses with a code, or takes what another implementation takes, whatever is sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async seed => {
      const result = readCertificateRequest(inputs.create(seed).content);
      const outcome = result.ok
        ? await askPeculiar(result.csr)
        : refusalMessages[result.code];
      expect(outcome).toBe(result.ok ? undefined : result.message);
    }),
    { numRuns: 2000 * RUNS },
  );
});

it('starts from requests that everybody takes', async () => {
  for (const { der } of seedRequests()) {
    const request = readOrThrow(der);
    expect([await askPeculiar(request), askOpenssl(request)]).toEqual([
      undefined,
      undefined,
    ]);
  }
});

function readOrThrow(der: Buffer): CertificateRequest {
  const result = readCertificateRequest(der.toString('base64'));
  if (!result.ok) {
    throw new Error(result.message);
  }
  return result.csr;
}
