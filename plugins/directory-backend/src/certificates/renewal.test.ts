import { mockCredentials } from '@backstage/backend-test-utils';
import type { Caller, Principal } from '@directory-gateway/directory-core';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { openAuthorities } from '../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { RECORDS } from './records/certificateRows';
import { findRenewable, hasFreshProof } from './renewal';

const alice: Principal = { ...person('alice'), stableId: 'ipaUniqueID=1' };

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

describe('findRenewable', () => {
  const database = withDatabase();
  let authority: PermissiveAuthority;
  let serialNumber: bigint;
  let opened: ReturnType<typeof openAuthorities>;

  beforeEach(async () => {
    authority = new PermissiveAuthority();
    opened = openAuthorities(await openDatabase(database), { ca: authority });
    ({ serialNumber } = await opened.issue({ label: 'laptop' }));
  });

  const findAs = (account: Principal) =>
    findRenewable(serialNumber, { ...opened, caller: holder(account) });

  it('returns the record with profile and label', async () => {
    expect(await findAs(alice)).toMatchObject({
      serialNumber,
      profile: 'userCerts',
      label: 'laptop',
    });
  });

  it.each<[string, () => unknown, string]>([
    ['on hold', () => authority.hold(serialNumber), 'on hold'],
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
    await expect(findAs(alice)).rejects.toThrow(message);
  });

  it('refuses callers other than the account of the certificate', async () => {
    for (const other of [
      { ...alice, stableId: 'ipaUniqueID=2' },
      person('bob'),
    ]) {
      await expect(findAs(other)).rejects.toThrow('only by their owner');
    }
  });
});
