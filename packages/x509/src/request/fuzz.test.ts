import fc from 'fast-check';
import {
  verifyWithOpenssl,
  verifyWithPeculiar,
} from '../__testUtils__/fuzz/oracles';
import { FuzzInputs } from '../__testUtils__/fuzz/FuzzInputs';
import { seedRequests } from '../__testUtils__/fuzz/seedRequests';
import { CertificateRequest } from './CertificateRequest';
import { readCertificateRequest } from './readCertificateRequest';
import { refusalMessages } from '../refusals/RequestRefusal';

const inputs = new FuzzInputs();

jest.setTimeout(600_000);

it('refuses any input with a code, or accepts it if @peculiar/x509 accepts it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async seed => {
      const { content } = inputs.create(seed);
      const result = readCertificateRequest(content.toString());
      const outcome = result.ok
        ? await verifyWithPeculiar(result.csr)
        : refusalMessages[result.code];
      expect(outcome).toBe(result.ok ? undefined : result.message);
    }),
  );
});

it('starts with requests that other implementations accept', async () => {
  for (const { der } of seedRequests()) {
    const request = readOrThrow(der);
    expect([
      await verifyWithPeculiar(request),
      verifyWithOpenssl(request),
    ]).toEqual([undefined, undefined]);
  }
});

function readOrThrow(der: Buffer): CertificateRequest {
  const result = readCertificateRequest(der.toString('base64'));
  if (!result.ok) {
    throw new Error(result.message);
  }
  return result.csr;
}
