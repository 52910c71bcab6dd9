import { mockCredentials, mockServices } from '@backstage/backend-test-utils';
import type { Caller, Principal } from '@directory-gateway/directory-core';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { openAuthorities } from '../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { RECORDS } from './records/CertificateRecords';
import { hasFreshProof, RenewalService } from './RenewalService';

const alice: Principal = { ...person('alice'), stableId: 'ipaUniqueID=1' };
const { signal } = new AbortController();

describe('hasFreshProof', () => {
  const byCookie = { ...holder(alice), credential: 'session' } as Caller;
  const portalUser = (issuedAt?: Date): Caller => ({
    kind: 'portalUser',
    credentials: mockCredentials.user(),
    issuedAt,
  });
  const before = (minutes: number) =>
    new Date(Date.now() - minutes * 60_000 + 1000);

  it.each<[string, Caller, boolean]>([
    ['a ticket', holder(alice), true],
    ['a session cookie', byCookie, false],
    ['a new portal token', portalUser(before(5)), true],
    ['an older portal token', portalUser(before(6)), false],
    ['a portal token from the future', portalUser(before(-10)), false],
    ['a token of another plugin', portalUser(), false],
    [
      'a service token',
      { kind: 'portalService', credentials: mockCredentials.service() },
      false,
    ],
  ])('returns the expected result for %s', (_name, caller, isFresh) => {
    expect(hasFreshProof(caller)).toBe(isFresh);
  });
});

describe('RenewalService', () => {
  const database = withDatabase();
  let authority: PermissiveAuthority;
  let createEvent: jest.Mock;
  const renewed = { certificate: { description: { ok: false } } };
  let renewals: RenewalService;
  let serialNumber: bigint;
  let sign: jest.Mock;

  beforeEach(async () => {
    authority = new PermissiveAuthority();
    const opened = openAuthorities(await openDatabase(database), {
      ca: authority,
    });
    ({ serialNumber } = await opened.issue({ label: 'laptop' }));
    sign = jest.fn().mockResolvedValue(renewed);
    createEvent = jest.fn(async () => ({
      success: jest.fn(),
      fail: jest.fn(),
    }));
    renewals = new RenewalService({
      auditor: mockServices.auditor.mock({ createEvent }),
      ...opened,
      issuance: { sign },
    });
  });

  const renewAs = (account: Principal) =>
    renewals.renew(
      { serialNumber, csr: 'the CSR' },
      { caller: holder(account), signal },
    );

  it('signs with the profile and label of the old certificate', async () => {
    await expect(renewAs(alice)).resolves.toBe(renewed);
    expect(sign).toHaveBeenCalledWith(
      {
        username: 'alice',
        profile: 'userCerts',
        csr: 'the CSR',
        label: 'laptop',
        renewedFrom: serialNumber,
      },
      expect.objectContaining({ caller: holder(alice) }),
    );
  });

  it.each<[string, () => unknown, string]>([
    [
      'on hold',
      () => authority.hold({ serialNumber, heldBy: 'test' }),
      'on hold',
    ],
    [
      'that is revoked',
      () =>
        authority.revoke({
          serialNumber,
          reason: 'superseded',
          revokedBy: 'test',
        }),
      'revoked',
    ],
    [
      'that has expired',
      async () =>
        (await database.getClient())(RECORDS).update({
          not_after: new Date(Date.now() - 1000),
        }),
      'expired',
    ],
  ])('refuses a certificate %s', async (_name, prepare, message) => {
    await prepare();
    await expect(renewAs(alice)).rejects.toThrow(message);
    expect(sign).not.toHaveBeenCalled();
  });

  it('refuses and audits callers other than the account of the certificate', async () => {
    for (const other of [
      { ...alice, stableId: 'ipaUniqueID=2' },
      person('bob'),
    ]) {
      await expect(renewAs(other)).rejects.toThrow('only by their owner');
    }
    expect(sign).not.toHaveBeenCalled();
    expect(createEvent).toHaveBeenCalledTimes(2);
  });
});
