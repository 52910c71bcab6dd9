import { metrics } from '@opentelemetry/api';
import { schemaPreset } from '@directory-gateway/directory-core';
import { containersBelow } from './connection/DistinguishedName';
import { entryKinds } from './entryKinds';

const DN = 'entry of the test';

/** Decodes an entry and returns its replicated form. */
async function decode(
  kind: 'users' | 'groups' | 'agreements',
  values: Record<string, string | string[]>,
) {
  const add = jest.fn();
  jest
    .spyOn(metrics, 'getMeter')
    .mockReturnValue({ createCounter: () => ({ add }) } as never);
  const kinds = entryKinds({
    schema: schemaPreset('fas'),
    containers: containersBelow('dc=example,dc=test'),
  });
  const { entries } = await kinds[kind]!.decode([{ dn: DN, ...values }]);
  return { decoded: entries[0].entry, skipped: add.mock.calls.length };
}

const user = { objectClass: ['fasUser'], uid: 'alice' };
const group = { objectClass: ['fasGroup'], cn: 'packager', member: 'cn=other' };
const agreement = { objectClass: ['fasAgreement'], cn: 'FPCA' };

describe('entryKinds', () => {
  it.each(['-dash', 'two names', '', 'ali\0ce', 'alice\u0001'])(
    'skips and counts a user with the name %j',
    async uid => {
      expect(await decode('users', { ...user, uid })).toEqual({
        decoded: undefined,
        skipped: 1,
      });
    },
  );

  it('skips and counts a group with an invalid name, but replicates its members', async () => {
    expect(await decode('groups', { ...group, cn: '-dash' })).toEqual({
      decoded: { members: ['cn=other'], sponsors: [] },
      skipped: 1,
    });
  });

  it('cleans texts, but not DNs, by which entries are linked', async () => {
    const members = ['cn=a\u0001', 'cn=a\u0002'];
    const values = { description: 'a\0b', member: members };
    expect(
      (await decode('groups', { ...group, ...values })).decoded,
    ).toMatchObject({ group: { description: 'a\ufffdb' }, members });
  });

  it('does not count entries with valid names or of other classes', async () => {
    const other = { objectClass: ['posixAccount'] };
    for (const result of [
      await decode('users', user),
      await decode('users', { ...user, ...other, uid: '-dash' }),
      await decode('groups', group),
      await decode('groups', { ...group, ...other, cn: '-dash' }),
    ]) {
      expect(result.skipped).toBe(0);
    }
    expect((await decode('users', user)).decoded).toBeDefined();
    expect((await decode('groups', group)).decoded).toBeDefined();
  });

  it('replicates only the users who signed an agreement as its signers', async () => {
    const values = { memberUser: 'UID=Alice,cn=users', member: 'cn=packager' };
    expect(
      (await decode('agreements', { ...agreement, ...values })).decoded,
    ).toEqual({
      name: 'FPCA',
      enabled: false,
      signers: new Set(['uid=alice,cn=users']),
    });
  });

  it('does not replicate an agreement without a name', async () => {
    const { decoded } = await decode('agreements', { ...agreement, cn: [] });
    expect(decoded).toBeUndefined();
  });
});
