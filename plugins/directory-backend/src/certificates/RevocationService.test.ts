import { mockServices } from '@backstage/backend-test-utils';
import {
  AuthorityUnavailableError,
  type CertificateAuthority,
  type Revocation,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import { randomUUID } from 'node:crypto';
import { openAuthorities } from '../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { BlockedKeys } from './BlockedKeys';
import { GatewayChanges } from './GatewayChanges';
import { type CertificateRow, RECORDS } from './records/certificateRows';
import { RevocationService } from './RevocationService';

const admin = holder(person('admin'));

describe('RevocationService', () => {
  const database = withDatabase();
  const event = { success: jest.fn(), fail: jest.fn() };
  const createEvent = jest.fn(async () => event);

  beforeEach(() => {
    jest.clearAllMocks();
  });

  async function open(
    change: Partial<CertificateAuthority> = {},
    permissive = new PermissiveAuthority(),
    others: Readonly<Record<string, CertificateAuthority>> = {},
  ) {
    const knex = await openDatabase(database);
    const ca: CertificateAuthority = {
      cacn: permissive.cacn,
      choosesSerialNumbers: true,
      sign: request => permissive.sign(request),
      get: serialNumber => permissive.get(serialNumber),
      revoke: request => permissive.revoke(request),
      ...change,
    };
    const opened = openAuthorities(knex, { ca, ...others });
    const blockedKeys = new BlockedKeys(knex);
    const auditor = mockServices.auditor.mock({ createEvent });
    const revocations = new RevocationService({
      ...opened,
      blockedKeys,
      auditor,
      changes: new GatewayChanges({ auditor, now: () => Date.now() }),
      logger: mockServices.logger.mock(),
    });
    return {
      ...opened,
      blockedKeys,
      knex,
      permissive,
      revokeLost: () => revocations.revokeLost(),
      revoke: (
        serialNumber: bigint,
        reason: 'keyCompromise' | 'superseded' = 'keyCompromise',
      ) => revocations.revoke({ serialNumber, reason }, admin),
      states: async () => (await knex(RECORDS).pluck('state')).join(),
    };
  }

  it('blocks the key, revokes and records while the CA rejects other lookups', async () => {
    const permissive = new PermissiveAuthority();
    const { blockedKeys, issue, revoke, states } = await open(
      {
        async get(serialNumber, options) {
          if (!options?.forRevocation) {
            throw new AuthorityUnavailableError('Too many lookups are waiting');
          }
          return await permissive.get(serialNumber);
        },
      },
      permissive,
    );
    const { publicKeySha256, serialNumber } = await issue();
    expect(await revoke(serialNumber)).toMatchObject({
      cacn: 'permissive',
      owners: ['alice'],
      record: { profile: 'userCerts' },
      revocation: { reason: 1 },
    });
    expect(await blockedKeys.has(publicKeySha256)).toBe(true);
    expect(await states()).toBe('revoked');
    expect(event.success).toHaveBeenCalledWith({
      meta: { blockedKeyHash: publicKeySha256 },
    });
    // A certificate that is already revoked keeps its reason.
    expect(await revoke(serialNumber, 'superseded')).toMatchObject({
      revocation: { reason: 1 },
    });
  });

  it('revokes with a CA that cannot look up certificates', async () => {
    const { issue, revoke, states } = await open({ get: undefined });
    const { serialNumber } = await issue();
    expect(await revoke(serialNumber, 'superseded')).toMatchObject({
      revocation: { reason: 4 },
    });
    expect(await states()).toBe('revoked');
    expect(await revoke(42n)).toBeUndefined();
  });

  it('blocks the key when the CA fails to revoke', async () => {
    const { blockedKeys, issue, revoke, states } = await open({
      async revoke() {
        throw new AuthorityUnavailableError('No connection');
      },
    });
    const { publicKeySha256, serialNumber } = await issue();
    await expect(revoke(serialNumber)).rejects.toThrow('No connection');
    expect(event.fail).toHaveBeenCalledWith({
      meta: { blockedKeyHash: publicKeySha256 },
      error: expect.objectContaining({ message: 'No connection' }),
    });
    expect(await blockedKeys.has(publicKeySha256)).toBe(true);
    expect(await states()).toBe('valid');
  });

  it('fails when the CA does not find the certificate any more', async () => {
    const { issue, revoke } = await open({ revoke: async () => undefined });
    const { serialNumber } = await issue();
    await expect(revoke(serialNumber)).rejects.toMatchObject({
      name: 'AuthorityUnavailableError',
    });
    expect(event.success).not.toHaveBeenCalled();
    expect(event.fail).toHaveBeenCalledTimes(1);
  });

  it('revokes a lost certificate later, with one audit event, if the CA does not find it', async () => {
    const caRevoke = jest.fn<Promise<Revocation | undefined>, []>();
    const { issue, knex, revokeLost, states } = await open({
      revoke: caRevoke,
    });
    await issue();
    await knex(RECORDS).update({ state: 'reserved', reserved_at: new Date(0) });
    await revokeLost();
    await revokeLost();
    expect(caRevoke).toHaveBeenCalledTimes(1);
    expect(await states()).toBe('reserved');
    const later = Date.now() + 60 * 60_000;
    jest.spyOn(Date, 'now').mockReturnValue(later);
    try {
      await revokeLost();
      expect(caRevoke).toHaveBeenCalledTimes(2);
      expect(createEvent).toHaveBeenCalledTimes(1);
      expect(event.fail).toHaveBeenCalledTimes(1);
      caRevoke.mockResolvedValue({ reason: 0 });
      jest.spyOn(Date, 'now').mockReturnValue(later + 60 * 60_000);
      await revokeLost();
      expect(await states()).toBe('revoked');
      expect(event.success).toHaveBeenCalledTimes(1);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it.each([
    ['without an owner', undefined],
    ['whose owner was deleted', []],
    ["that a user has added to the user's own entry", ['bob']],
  ])('does not revoke a certificate %s', async (_what, owners) => {
    const permissive = new PermissiveAuthority();
    const { blockedKeys, issue, knex, revoke, states } = await open(
      {
        async get(serialNumber) {
          const issued = await permissive.get(serialNumber);
          return issued && { ...issued, owners };
        },
      },
      permissive,
    );
    const { publicKeySha256, serialNumber } = await issue();
    await knex(RECORDS).delete();
    await expect(revoke(serialNumber)).rejects.toMatchObject({
      name: 'AuthorityRefusalError',
      kind: 'forbidden',
    });
    expect(await blockedKeys.has(publicKeySha256)).toBe(false);
    expect(event.fail).toHaveBeenCalledTimes(1);

    // The gateway has recorded this one.
    const recorded = await issue();
    expect(await revoke(recorded.serialNumber)).toBeDefined();
    expect(await states()).toBe('revoked');
    // This one is of another CA that has used the serial number.
    const { serialNumber: other } = await issue();
    await knex(RECORDS).update({ public_key_sha256: 'other' });
    await expect(revoke(other)).rejects.toMatchObject({
      name: 'AuthorityRefusalError',
    });
  });

  it('revokes a certificate that the gateway has not recorded', async () => {
    const { permissive, revoke } = await open();
    const { certificate } = await permissive.sign(
      createSigningRequest({
        username: 'alice',
        principal: 'alice@EXAMPLE.TEST',
        profile: 'userCerts',
      }),
    );
    const { description } = certificate;
    const serialNumber = description.ok && description.certificate.serialNumber;
    expect(await revoke(serialNumber as bigint)).toMatchObject({
      revocation: { reason: 1 },
    });
  });

  it('revokes the certificates that were renewed by a compromised key', async () => {
    const { blockedKeys, issue, knex, permissive, revoke } = await open();
    const first = await issue();
    const second = await issue({ renewedFrom: first.serialNumber });
    const third = await issue({ renewedFrom: second.serialNumber });
    // As 0.2.0 recorded renewals.
    await knex(RECORDS)
      .whereNotNull('renewed_from')
      .update({ is_renewed_by_key: true });
    const byTicket = await issue({ renewedFrom: first.serialNumber });
    await revoke(first.serialNumber);
    const issued = [first, second, third, byTicket];
    const states = await Promise.all(
      issued.map(({ serialNumber }) => permissive.get(serialNumber)),
    );
    expect(states.map(each => each?.revocation?.reason)).toEqual([
      ...[1, 1, 1],
      undefined,
    ]);
    expect(
      await Promise.all(
        issued.map(({ publicKeySha256 }) => blockedKeys.has(publicKeySha256)),
      ),
    ).toEqual([true, true, true, false]);
    expect(createEvent).toHaveBeenCalledTimes(3);
  });

  it('does not revoke certificates of another CA with the same serial numbers', async () => {
    const other = {
      cacn: 'other',
      sign: jest.fn(),
      revoke: jest.fn(async () => ({ reason: 1 })),
    };
    const { issue, knex, permissive, revoke } = await open({}, undefined, {
      other,
    });
    const renewed = await issue();
    const renewal = await issue({ renewedFrom: 1n });
    await knex(RECORDS)
      .whereNotNull('renewed_from')
      .update({ is_renewed_by_key: true });
    const rows: CertificateRow[] = await knex(RECORDS);
    await knex(RECORDS).insert(
      rows.map(row => ({
        ...row,
        id: randomUUID(),
        authority: 'other',
        request_key: null,
        serial_number: row.id === renewed.id ? '1' : row.serial_number,
      })),
    );
    expect(await revoke(1n)).toMatchObject({ authority: 'other' });
    expect(other.revoke.mock.calls).toMatchObject([
      [{ serialNumber: 1n }],
      [{ serialNumber: renewal.serialNumber }],
    ]);
    const found = await permissive.get(renewal.serialNumber);
    expect(found?.revocation).toBeUndefined();
  });
});
