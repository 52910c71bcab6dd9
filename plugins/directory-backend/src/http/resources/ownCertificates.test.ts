import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { SigningLimitExceededError } from '../../certificates/errors';
import { ForbiddenError } from '../../apiErrors';
import { ownCertificateOperations } from './ownCertificates';

const alice = { ...person('alice'), stableId: 'ipaUniqueID=1' };
const record = { subjectId: alice.stableId };

describe('ownCertificateOperations', () => {
  it('limits revocations by an owner but not by an administrator', async () => {
    const require = jest
      .fn()
      .mockRejectedValueOnce(new ForbiddenError({ message: 'No' }));
    const revoke = jest.fn().mockRejectedValue(new Error('revoked'));
    const [operation] = ownCertificateOperations({
      access: { require },
      limit: {
        consume: async () => {
          throw new SigningLimitExceededError(1000);
        },
      },
      authorities: { get: async () => ({ record }) },
      records: { find: async () => [record] },
      revocations: { revoke, recordDenial: jest.fn() },
    } as never);
    const call = () =>
      operation.handle({
        params: { serialNumber: '7' },
        parameters: new Map([['reason', 'superseded']]),
        caller: holder(alice),
      } as never);
    await expect(call()).rejects.toThrow('Too many signing requests');
    expect(revoke).not.toHaveBeenCalled();
    await expect(call()).rejects.toThrow('revoked');
  });
});
