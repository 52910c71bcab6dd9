import { StepCaClient, type StepCaResponse } from '../StepCaClient';
import type { StepCaConfig } from '../StepCaConfig';
import { profile, user } from './settings';

/**
 * Requests whose responses are recorded in `__fixtures__`: `make trials` sends
 * them to step-ca, and the fake returns the recorded responses.
 */
export const CASES = [
  'unknown provisioner',
  'malformed CSR',
  'CSR of another user',
  'unknown SAN',
  'unknown profile',
  'too long',
  'revoked',
  'already revoked',
  'unknown path',
] as const;
export type Case = (typeof CASES)[number];

/** Replaces the serial number in a response. */
export function normalize({ status, body }: StepCaResponse): StepCaResponse {
  const text = JSON.stringify(body).replace(/'\d+'/g, "'SERIAL'");
  return { status, body: JSON.parse(text) };
}

/** Sends the request of a case. */
export async function sendCase(
  name: Case,
  options: { readonly config: StepCaConfig; readonly csr: string },
): Promise<StepCaResponse> {
  const client = new StepCaClient({
    ...options.config,
    ...(name === 'unknown provisioner' ? { provisioner: 'other' } : {}),
  });
  const serialNumber = '123456789012345678901234567890';
  const sign = (change: {
    readonly path?: string;
    readonly csr?: string;
    readonly username?: string;
    readonly body?: object;
    readonly certificate?: object;
  }) =>
    client.connect(connection =>
      connection.post(
        change.path ?? '/1.0/sign',
        { csr: change.csr ?? options.csr, ...change.body },
        {
          sub: change.username ?? user.username,
          sans: ['no-name@invalid'],
          certificate: {
            serialNumber,
            profile,
            emails: [],
            userPrincipalNames: [],
            ...change.certificate,
          },
        },
      ),
    );
  const revoke = () =>
    client.connect(connection =>
      connection.post(
        '/1.0/revoke',
        {
          serial: serialNumber,
          reasonCode: 1,
          reason: 'keyCompromise',
          passive: true,
        },
        { sub: serialNumber },
      ),
    );
  switch (name) {
    case 'unknown provisioner':
      return await sign({});
    case 'malformed CSR':
      return await sign({ csr: 'not a CSR' });
    case 'CSR of another user':
      return await sign({ username: 'bob' });
    case 'unknown SAN':
      return await sign({
        certificate: { userPrincipalNames: ['alice@OTHER.TEST'] },
      });
    case 'unknown profile':
      return await sign({ certificate: { profile: 'other' } });
    case 'too long':
      return await sign({ body: { notAfter: '87600h' } });
    case 'revoked':
    case 'already revoked':
      return await revoke();
    default:
      return await sign({ path: '/1.0/unknown' });
  }
}
