import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { operationsOperation } from './me';

describe('operationsOperation', () => {
  async function operationsWith(certificates: unknown) {
    const operation = operationsOperation({
      access: {
        operationsOf: async () =>
          new Set(['directory.read', 'directory.certificate.revoke']),
      },
      certificates: certificates as never,
      directory: { hiddenFields: new Set(['locale']) } as never,
    });
    const { result } = (await operation.handle({
      caller: holder(person('alice')),
    } as never)) as { result: Record<string, unknown> };
    return result;
  }

  const withAuthority = (authority: object, accountHolds = true) => ({
    authority,
    config: {
      requirePortalToken: false,
      accountHolds: { enabled: accountHolds },
    },
  });

  it('returns no CA when none is configured', async () => {
    expect(await operationsWith(undefined)).toEqual({
      operations: ['directory.read'],
      signs_for_others: false,
      certificate_authority: null,
      hidden_fields: ['locale'],
    });
  });

  const revoke = () => {};
  const hold = () => {};

  it.each([
    ['revoke and hold', { revoke, hold }, true, true, true],
    ['revoke and hold, without holds', { revoke, hold }, false, true, false],
    ['revoke', { revoke }, true, true, false],
    ['neither', {}, true, false, false],
  ])(
    'reports what a CA can do: %s',
    async (_, authority, enabled, can_revoke, can_hold) => {
      const result = await operationsWith(withAuthority(authority, enabled));
      expect(result.certificate_authority).toEqual({ can_revoke, can_hold });
      expect(result.operations).toEqual([
        'directory.read',
        ...(can_revoke ? ['directory.certificate.revoke'] : []),
      ]);
    },
  );
});
