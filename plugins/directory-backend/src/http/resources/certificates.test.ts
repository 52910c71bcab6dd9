import { mockServices } from '@backstage/backend-test-utils';
import { Certificate } from '@directory-gateway/x509';
import {
  type Directory,
  PrincipalSet,
  PrivateDirectory,
} from '@directory-gateway/directory-core';
import {
  accountsOf,
  holder,
  person,
} from '@directory-gateway/directory-core/testUtils';
import { makeCsr } from '../../__testUtils__/certificates/makeCsr';
import { openAuthorities } from '../../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../../__testUtils__/certificates/PermissiveAuthority';
import { withDatabase } from '../../__testUtils__/withDatabase';
import { BlockedKeys } from '../../certificates/BlockedKeys';
import { CertificateReader } from '../../certificates/CertificateReader';
import { IssuanceService } from '../../certificates/IssuanceService';
import { SigningLimit } from '../../certificates/SigningLimit';
import { openDatabase } from '../../openDatabase';
import type { Call } from '../api/Operation';
import { contractDialect } from '../contractDialect';
import { certificateOperations } from './certificates';

const BASE_URL = 'http://localhost/api/directory';
const alice = person('alice');

/** Certificates whose description was read in the test. */
const described = new Set<Certificate>();
const { get } = Object.getOwnPropertyDescriptor(
  Certificate.prototype,
  'description',
)!;

beforeEach(() => {
  described.clear();
  jest
    .spyOn(Certificate.prototype, 'description', 'get')
    .mockImplementation(function read(this: Certificate) {
      described.add(this);
      return get!.call(this);
    });
});

afterEach(() => {
  jest.restoreAllMocks();
});

const database = withDatabase();

async function operations() {
  const knex = await openDatabase(database);
  const opened = openAuthorities(knex, { test: new PermissiveAuthority() });
  const { config } = opened;
  const options = {
    ...opened,
    accounts: accountsOf([alice]),
    auditor: mockServices.auditor.mock({
      createEvent: async () => ({ success: jest.fn(), fail: jest.fn() }),
    }),
    blockedKeys: new BlockedKeys(knex),
    directory: new PrivateDirectory({} as Directory, {
      hidden: new Set(),
      trustedReaders: new PrincipalSet({}),
    }),
    limit: new SigningLimit({ database: knex, limit: config.limit }),
    revocations: { revokeAsGateway: jest.fn(), revokeUnreturned: jest.fn() },
    stableIdOf: () => undefined,
  };
  const [sign, read] = certificateOperations({
    config,
    dialect: contractDialect(BASE_URL),
    issuance: new IssuanceService(options),
    reader: new CertificateReader(options),
  });
  const caller = holder(alice);
  const call = (changes: Partial<Call>): Call => ({
    caller,
    uri: `${BASE_URL}/v1/certs/`,
    params: {},
    query: new URLSearchParams(),
    parameters: new Map(),
    fieldMask: undefined,
    context: { caller, signal: new AbortController().signal },
    ...changes,
  });
  return {
    async sign(parameters: Record<string, string>) {
      const response = await sign.handle(
        call({ parameters: new Map(Object.entries(parameters)) }),
      );
      return (response as { result: Record<string, unknown> }).result;
    },
    async read(serialNumber: string) {
      const response = await read.handle(call({ params: { serialNumber } }));
      return (response as { result: Record<string, unknown> }).result;
    },
  };
}

describe('certificateOperations', () => {
  const parameters = { user: 'alice', csr: makeCsr({ subject: '/CN=alice' }) };

  it('signs and reads a certificate, parsing it once per request', async () => {
    const { sign, read } = await operations();
    const signed = await sign(parameters);
    expect(signed).toMatchObject({ cacn: 'permissive', subject: 'CN=alice' });
    expect(described.size).toBe(1);
    described.clear();
    const serialNumber = BigInt(`${signed.serial_number_hex}`);
    expect(await read(String(serialNumber))).toEqual(signed);
    expect(described.size).toBe(1);
  });

  it('returns the check results without signing for dry_run', async () => {
    const { sign } = await operations();
    const result = await sign({ ...parameters, dry_run: 'true' });
    expect(result).toMatchObject({ would_sign: true });
    expect(described.size).toBe(0);
  });
});
