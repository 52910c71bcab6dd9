import { rename } from 'node:fs/promises';
import { mockCredentials, mockServices } from '@backstage/backend-test-utils';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import { AuditTrail } from '../__testUtils__/AuditTrail';
import { serialNumberOf } from '../__testUtils__/certificateFacts';
import { readRevocationList } from '../__testUtils__/readRevocationList';
import { aliceRequest } from '../__testUtils__/requests';
import { TestCa } from '../__testUtils__/TestCa';
import { sqlite } from '../__testUtils__/TestDatabase';
import type { EmbeddedCa } from '../createEmbeddedCa';
import { RevocationService } from './RevocationService';

describe('RevocationService', () => {
  let ca: TestCa;
  let node: EmbeddedCa;

  beforeEach(async () => {
    ca = await TestCa.start(sqlite);
    node = await ca.open();
  });

  afterEach(async () => {
    await ca.stop();
  });

  const serviceOf = (
    result: AuthorizeResult.ALLOW | AuthorizeResult.DENY,
    on = node,
  ) => {
    const audit = new AuditTrail();
    const service = new RevocationService({
      revoker: on.revoker,
      permissions: mockServices.permissions({ result }),
      auditor: audit,
    });
    return { audit, service };
  };

  it('refuses those who may not, and has it on record', async () => {
    const issued = await node.authority.sign(aliceRequest());
    const serialNumber = serialNumberOf(issued);
    const { audit, service } = serviceOf(AuthorizeResult.DENY);
    const revoked = service.revoke(
      { serialNumber, reason: 'unspecified' },
      { credentials: mockCredentials.service('plugin:mallory') },
    );
    await expect(revoked).rejects.toMatchObject({ name: 'NotAllowedError' });
    expect(await node.authority.get(serialNumber)).toEqual(issued);
    expect(audit.events).toEqual([
      {
        eventId: 'certificate-revoke',
        outcome: 'failure',
        error: 'NotAllowedError',
        serialNumber: String(serialNumber),
        reason: 'unspecified',
        revokedBy: 'plugin:mallory',
      },
    ]);
  });

  it('revokes though no list can be signed, says so, and the list follows', async () => {
    const serialNumber = serialNumberOf(
      await node.authority.sign(aliceRequest()),
    );
    await rename(ca.keyFile, `${ca.keyFile}.away`);
    const keyless = await ca.open();
    const { audit, service } = serviceOf(AuthorizeResult.ALLOW, keyless);
    await service.revoke(
      { serialNumber, reason: 'superseded' },
      { credentials: mockCredentials.user('user:default/admin') },
    );
    expect(audit.events).toMatchObject([{ outcome: 'success' }]);
    expect(ca.logger.lines.at(-1)).toMatch(/not on the revocation list yet/);
    await node.lists.renew();
    expect(await readRevocationList(await node.lists.read())).toMatchObject({
      serialNumbers: [serialNumber],
    });
  });
});
