import { mockCredentials } from '@backstage/backend-test-utils';
import type { AuditorService } from '@backstage/backend-plugin-api';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type Database,
  OutcomeUnknownError,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  createSigningRequest,
  RecordingLogger,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { CertificateFields } from '@directory-gateway/x509';
import {
  anyOf,
  emptyUser,
  type Principal,
  type UserCondition,
} from '@directory-gateway/directory-core';
import {
  accountsOf,
  holder,
  person,
} from '@directory-gateway/directory-core/testUtils';
import { openAuthorities } from '../__testUtils__/certificates/openAuthorities';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { BlockedKeys } from './BlockedKeys';
import { GatewayChanges } from './GatewayChanges';
import { IssuanceService } from './IssuanceService';
import { RECORDS } from './records/certificateRows';
import type { CertificateRecords } from './records/CertificateRecords';
import type { Reservations } from './records/Reservations';
import { RevocationService } from './RevocationService';
import { SigningLimit } from './SigningLimit';

const alice: Principal = {
  ...person('alice'),
  stableId: 'ipaUniqueID=1',
  server: 'ldaps://ipa.example.test',
};
const unserved = { ...person('erin'), served: false };
const people = [alice, unserved, person('bob'), person('signer')];
const csr = makeCsr({ subject: '/CN=alice' });
const otherRequest = createSigningRequest({
  username: 'alice',
  principal: 'alice@EXAMPLE.TEST',
  profile: 'userCerts',
});

const certificates = {
  authority: 'ca',
  profiles: [
    { name: 'userCerts' },
    { name: 'packagers', allowedGroups: ['packager'] },
  ],
  signers: { principals: ['signer'] },
  limit: { requests: 3 },
  maxPerUser: 4,
};

/** Records each event with its outcome. */
class AuditTrail implements AuditorService {
  readonly events = new Array<object>();

  async createEvent({ eventId, meta }: { eventId: string; meta?: object }) {
    return {
      success: async (options?: { meta?: object }) => {
        this.events.push({ eventId, ...meta, ...options?.meta });
      },
      fail: async (options: { meta?: object; error: Error }) => {
        const { name } = options.error;
        this.events.push({ eventId, ...meta, ...options.meta, failed: name });
      },
    };
  }
}

describe('IssuanceService', () => {
  const database = withDatabase();
  let knex: Database;
  let authority: PermissiveAuthority;
  let blockedKeys: BlockedKeys;
  let limit: SigningLimit;
  let whileSigning: (
    signed: SignedCertificate,
    request: SigningRequest,
  ) => Promise<unknown>;
  let revoke: jest.Mock;
  let auditor: AuditTrail;
  let logger: RecordingLogger;
  let records: CertificateRecords;
  let reservations: Reservations;
  let issue: ReturnType<typeof openAuthorities>['issue'];
  let revocations: RevocationService;
  let issuance: IssuanceService;

  beforeEach(async () => {
    knex = await openDatabase(database);
    authority = new PermissiveAuthority();
    authority.choosesSerialNumbers = false;
    auditor = new AuditTrail();
    logger = new RecordingLogger();
    blockedKeys = new BlockedKeys(knex);
    whileSigning = async () => {};
    revoke = jest.fn(async (request: Parameters<typeof authority.revoke>[0]) =>
      authority.revoke(request),
    );
    const { cacn } = authority;
    const ca = {
      cacn,
      get choosesSerialNumbers() {
        return authority.choosesSerialNumbers;
      },
      revoke,
      profiles: new Map(
        ['userCerts', 'packagers'].map(name => [
          name,
          { validityMs: 24 * 60 * 60_000, extendedKeyUsage: [] },
        ]),
      ),
      async sign(request: SigningRequest) {
        const signed = await authority.sign(request);
        await whileSigning(signed, request);
        return signed;
      },
    };
    const opened = openAuthorities(knex, { ca }, certificates);
    const { config } = opened;
    ({ issue, records, reservations } = opened);
    limit = new SigningLimit({ database: knex, limit: config.limit });
    revocations = new RevocationService({
      ...opened,
      auditor,
      blockedKeys,
      changes: new GatewayChanges({ auditor }),
      logger,
    });
    issuance = new IssuanceService({
      ...opened,
      accounts: accountsOf(people),
      auditor,
      blockedKeys,
      directory: {
        getUser: async ({ username }, { visible }) =>
          visible?.users && username !== 'bob'
            ? undefined
            : { ...emptyUser(), username },
      },
      limit,
      revocations,
    });
  });

  /** States in the table of records. */
  const states = async () =>
    (await knex(RECORDS).orderBy('reserved_at').pluck('state')).join();

  const sign = (
    as: Principal,
    changes: Partial<Parameters<IssuanceService['sign']>[0]> = {},
  ) =>
    issuance.sign(
      { username: 'alice', profile: 'userCerts', csr, ...changes },
      { caller: holder(as), signal: new AbortController().signal },
    );

  it('signs and audits a request that passes all rules', async () => {
    let signed: SignedCertificate | undefined;
    whileSigning = async certificate => {
      signed = certificate;
    };
    const issued = await sign(alice);
    // The same instance, so that its description is not parsed again.
    expect(issued.certificate).toBe(signed!.certificate);
    expect(issued).toMatchObject({ cacn: 'permissive', owners: ['alice'] });
    expect(authority.signed).toMatchObject([
      { username: 'alice', requestedBy: 'alice', profile: 'userCerts' },
    ]);
    expect(auditor.events).toEqual([
      {
        eventId: 'certificate-sign',
        actor: 'alice@EXAMPLE.TEST',
        credential: 'ticket',
        account: 'alice',
        address: '127.0.0.1',
        username: 'alice',
        profile: 'userCerts',
        keyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        serialNumber: String(authority.signed[0].serialNumber),
      },
    ]);
  });

  it('records the account of the certificate', async () => {
    const renewedFrom = 7n;
    const { certificate, chain } = await sign(alice, {
      label: 'laptop',
      renewedFrom,
    });
    const [{ serialNumber }] = authority.signed;
    expect(await records.find(serialNumber)).toMatchObject([
      {
        authority: 'ca',
        serialNumber,
        username: 'alice',
        subjectId: 'ipaUniqueID=1',
        profile: 'userCerts',
        label: 'laptop',
        certificate: { der: certificate.der },
        issuers: chain.slice(1),
        revocation: undefined,
        renewedFrom,
      },
    ]);
  });

  it('returns the certificate of a repeated request, with a new label', async () => {
    const { certificate } = await sign(alice, { label: 'laptop' });
    const repeated = await sign(alice);
    expect(repeated.certificate.der).toEqual(certificate.der);
    expect(repeated.record?.label).toBe('laptop');
    expect(await sign(person('signer'), { label: 'phone' })).toMatchObject({
      certificate: { der: certificate.der },
      record: { label: 'phone' },
    });
    expect(authority.signed).toHaveLength(1);
    const [{ serialNumber }] = authority.signed;
    expect(await records.find(serialNumber)).toMatchObject([
      { label: 'phone' },
    ]);
    expect(auditor.events).toHaveLength(3);
  });

  it('revokes a certificate that it cannot record, and retries with another number', async () => {
    whileSigning = async () => {
      whileSigning = async () => {};
      jest
        .spyOn(reservations, 'record')
        .mockRejectedValueOnce(new AuthorityUnavailableError('Down'));
    };
    await expect(sign(alice)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    const [{ serialNumber }] = authority.signed;
    expect((await authority.get(serialNumber))?.revocation?.reason).toBe(0);
    expect(await states()).toBe('revoked');
    await sign(alice);
    expect(await states()).toBe('revoked,valid');
    expect(authority.signed[1].serialNumber).not.toBe(serialNumber);
    expect(auditor.events).toMatchObject([
      { eventId: 'certificate-revoke', serialNumber: String(serialNumber) },
      { eventId: 'certificate-sign', failed: 'OutcomeUnknownError' },
      { eventId: 'certificate-sign' },
    ]);
  });

  it('revokes the reserved serial number when the response of the CA is lost', async () => {
    whileSigning = async () => {
      throw new OutcomeUnknownError('No response');
    };
    await expect(sign(alice)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    const [{ serialNumber }] = authority.signed;
    expect((await authority.get(serialNumber))?.revocation?.reason).toBe(0);
    expect(await states()).toBe('revoked');

    // The CA is not available for the revocation, which is repeated later.
    revoke.mockRejectedValue(new AuthorityUnavailableError('No connection'));
    await expect(sign(alice)).rejects.toThrow('No response');
    expect(await states()).toBe('revoked,reserved');
    expect(logger.lines.join()).toContain('is not revoked yet');
    await revocations.revokeLost();
    expect(await states()).toBe('revoked,reserved');
    await knex(RECORDS).update({ reserved_at: new Date(Date.now() - 601_000) });
    await revocations.revokeLost();
    expect(await states()).toBe('revoked,reserved');
    revoke.mockImplementation(request => authority.revoke(request));
    await revocations.revokeLost();
    expect(await states()).toBe('revoked,revoked');
    const last = authority.signed[1].serialNumber;
    expect((await authority.get(last))?.revocation?.reason).toBe(0);
  });

  it.each([
    new AuthorityRefusalError('No'),
    new AuthorityUnavailableError('No'),
    new AuthorityProtocolError('No', { isUnsigned: true }),
  ])('deletes the reservation when the CA has not signed: %s', async error => {
    whileSigning = async () => {
      throw error;
    };
    await expect(sign(alice)).rejects.toBe(error);
    expect(await states()).toBe('');
    expect(revoke).not.toHaveBeenCalled();
  });

  it.each<[string, Partial<SigningRequest>]>([
    ['another key', { publicKey: otherRequest.publicKey }],
    ['another serial number', { serialNumber: 7n }],
    ['another user name', { username: 'bob' }],
  ])('revokes a certificate with %s', async (fault, change) => {
    const permit = authority.sign.bind(authority);
    jest
      .spyOn(authority, 'sign')
      .mockImplementation(request => permit({ ...request, ...change }));
    await expect(sign(alice)).rejects.toMatchObject({
      name: 'AuthorityProtocolError',
      message: expect.stringContaining(fault),
    });
    const [{ serialNumber }] = authority.signed;
    expect((await authority.get(serialNumber))?.revocation?.reason).toBe(0);
    expect(await states()).not.toMatch(/reserved|valid/);
  });

  it.each<[string, Partial<CertificateFields>]>([
    [
      'other usages',
      {
        extensions: {
          extendedKeyUsage: ['serverAuth'],
        },
      },
    ],
    [
      'other usages',
      {
        extensions: {
          keyUsage: ['keyCertSign'],
        },
      },
    ],
    [
      'a start of validity in the future',
      { notBefore: new Date(Date.now() + 2 * 60 * 60_000) },
    ],
    [
      'a longer validity',
      { notAfter: new Date(Date.now() + 26 * 60 * 60_000) },
    ],
  ])('revokes a certificate with %s (%j)', async (fault, fields) => {
    authority.fields = fields;
    await expect(sign(alice)).rejects.toMatchObject({
      name: 'AuthorityProtocolError',
      message: expect.stringContaining(fault),
    });
    expect(await states()).toBe('revoked');
  });

  it('does not revoke another certificate whose serial number the CA returns', async () => {
    await sign(alice);
    const [{ serialNumber }] = authority.signed;
    const permit = authority.sign.bind(authority);
    jest
      .spyOn(authority, 'sign')
      .mockImplementation(request => permit({ ...request, serialNumber }));
    await expect(
      sign(alice, { csr: makeCsr({ subject: '/CN=alice' }) }),
    ).rejects.toThrow('another serial number');
    expect(await states()).toBe('valid,revoked');
    const [[{ serialNumber: revoked }]] = revoke.mock.calls;
    expect(revoked).not.toBe(serialNumber);
  });

  describe('with a CA that chooses serial numbers', () => {
    beforeEach(() => {
      authority.choosesSerialNumbers = true;
    });

    it('continues an attempt whose outcome is not known, also after a restart', async () => {
      whileSigning = async () => {
        throw new OutcomeUnknownError('No response');
      };
      await expect(sign(alice)).rejects.toThrow('No response');
      expect(await states()).toBe('abandoned');
      const [{ reserved_at: at }] = await knex(RECORDS).select('reserved_at');
      await revocations.revokeLost();
      await reservations.deleteLost();

      whileSigning = async () => {};
      await sign(alice);
      expect(authority.signed.map(each => each.attemptedAt)).toEqual([
        undefined,
        new Date(at),
      ]);
      expect(await states()).toBe('valid');
      expect(revoke).not.toHaveBeenCalled();
    });

    it('continues the attempt of a process that crashed', async () => {
      whileSigning = async () => {
        throw new OutcomeUnknownError('No response');
      };
      await expect(sign(alice)).rejects.toThrow('No response');
      const crashed = (minutes: number) =>
        knex(RECORDS).update({
          state: 'reserved',
          reserved_at: new Date(Date.now() - minutes * 60_000),
        });
      whileSigning = async () => {};
      // The process may still be running.
      await crashed(1);
      await expect(sign(alice)).rejects.toThrow('The same request is pending');
      expect(authority.signed).toHaveLength(1);
      await crashed(3);
      await sign(alice);
      expect(authority.signed[1].attemptedAt).toBeDefined();
      expect(await states()).toBe('valid');
    });

    it('continues an attempt once when it is repeated twice at a time', async () => {
      const lose = async () => {
        throw new OutcomeUnknownError('No response');
      };
      whileSigning = lose;
      await expect(sign(alice)).rejects.toThrow('No response');
      const [{ reserved_at: at }] = await knex(RECORDS).select('reserved_at');
      whileSigning = async () => {};
      const [one, other] = await Promise.all([sign(alice), sign(alice)]);
      expect(authority.signed).toHaveLength(2);
      expect(other.certificate.der).toEqual(one.certificate.der);
      expect(authority.signed[1].attemptedAt).toEqual(new Date(at));
      expect(await states()).toBe('valid');
    });

    it('keeps the time of the first attempt, and an attempt that is running', async () => {
      whileSigning = async () => {
        throw new OutcomeUnknownError('No response');
      };
      await expect(sign(alice)).rejects.toThrow('No response');
      const first = new Date(Date.now() - 59 * 60_000);
      await knex(RECORDS).update({ reserved_at: first });
      await expect(sign(alice)).rejects.toThrow('No response');
      const move = (minutes: number) =>
        knex(RECORDS).update({
          reserved_at: new Date(Date.now() - minutes * 60_000),
          not_before: new Date(Date.now() - 61 * 60_000),
        });
      expect(authority.signed[1].attemptedAt).toEqual(first);
      await move(1);
      await reservations.deleteLost();
      expect(await states()).toBe('abandoned');
      await move(3);
      await reservations.deleteLost();
      expect(await states()).toBe('');
    });

    it('forgets the attempt after an hour', async () => {
      whileSigning = async () => {
        throw new OutcomeUnknownError('No response');
      };
      await expect(sign(alice)).rejects.toThrow('No response');
      await knex(RECORDS).update({
        reserved_at: new Date(Date.now() - 61 * 60_000),
      });
      await reservations.deleteLost();
      await expect(sign(alice)).rejects.toThrow('No response');
      expect(authority.signed[1].attemptedAt).toBeUndefined();
    });

    it.each([
      ['an invalid response', [new AuthorityProtocolError('No JSON')]],
      [
        'a later attempt while the CA is not available',
        [
          new OutcomeUnknownError('No response'),
          new AuthorityUnavailableError('Down'),
        ],
      ],
    ])('keeps the attempt after %s', async (_what, errors) => {
      for (const error of errors) {
        whileSigning = async () => {
          throw error;
        };
        await expect(sign(alice)).rejects.toBe(error);
      }
      expect(await states()).toBe('abandoned');
    });

    it('signs one request for a key at a time', async () => {
      whileSigning = async () => {
        throw new OutcomeUnknownError('No response');
      };
      await expect(sign(alice)).rejects.toThrow('No response');
      const packager = { ...alice, groups: new Set(['packager']) };
      people.splice(people.indexOf(alice), 1, packager);
      const signOther = () => sign(packager, { profile: 'packagers' });
      try {
        await expect(signOther()).rejects.toThrow(
          'Another request for the same key is pending',
        );
        // An earlier reservation may be committed later.
        await knex(RECORDS).update({
          reserved_at: new Date(Date.now() + 60_000),
        });
        await expect(signOther()).rejects.toThrow(
          'Another request for the same key is pending',
        );
        expect(await states()).toBe('abandoned');
        await knex('directory_signing_limits').delete();
        whileSigning = async () => {};
        await sign(packager);
        await signOther();
      } finally {
        people.splice(people.indexOf(packager), 1, alice);
      }
      const { recorded } = authority.signed.at(-1)!;
      const [row] = await knex(RECORDS).where({ profile: 'userCerts' });
      expect([...recorded!].map(String)).toEqual([row.serial_number]);
    });

    it('revokes a certificate later that it could neither record nor revoke', async () => {
      const failure = new AuthorityUnavailableError('Down');
      jest.spyOn(reservations, 'record').mockRejectedValueOnce(failure);
      revoke.mockRejectedValueOnce(failure);
      await expect(sign(alice)).rejects.toThrow('could not be recorded');
      const [{ serial_number: serialNumber }] = await knex(RECORDS);
      const stateOf = async () =>
        (await authority.get(BigInt(serialNumber)))!.revocation;
      expect(await stateOf()).toBeUndefined();
      expect(await states()).toBe('reserved');
      expect(logger.lines.join()).toContain(serialNumber);
      // A repeated request is for another certificate.
      await knex(RECORDS).update({
        reserved_at: new Date(Date.now() - 601_000),
      });
      await sign(alice);
      expect([...authority.signed[1].recorded!].map(String)).toEqual([
        serialNumber,
      ]);
      expect(await states()).toBe('reserved,valid');
      await revocations.revokeLost();
      expect(await states()).toBe('revoked,valid');
      expect(await stateOf()).toMatchObject({ reason: 0 });
    });

    it('reports an attempt that it deletes', async () => {
      whileSigning = async () => {
        throw new OutcomeUnknownError('No response');
      };
      await expect(sign(alice)).rejects.toThrow('No response');
      await revocations.deleteLost();
      expect(logger.lines).toEqual([]);
      await knex(RECORDS).update({
        reserved_at: new Date(Date.now() - 61 * 60_000),
      });
      await revocations.deleteLost();
      expect(await states()).toBe('');
      expect(logger.lines).toEqual([
        expect.stringMatching(/^warn It is not known whether .* for alice/),
      ]);
      expect(auditor.events[1]).toEqual({
        eventId: 'certificate-sign',
        actor: 'directory-gateway',
        username: 'alice',
        profile: 'userCerts',
        keyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        serialNumber: 'unknown',
        failed: 'OutcomeUnknownError',
      });
    });

    it('does not record a certificate whose reservation was deleted', async () => {
      whileSigning = async () => {
        await knex(RECORDS).delete();
      };
      await expect(sign(alice)).rejects.toThrow('could not be recorded');
      expect(await states()).toBe('revoked');
      expect(revoke).toHaveBeenCalledTimes(1);
    });

    it('revokes no certificate of another request', async () => {
      await sign(alice);
      const [row] = await knex(RECORDS);
      const signed = await authority.get(BigInt(row.serial_number));
      jest.spyOn(authority, 'sign').mockResolvedValue(signed!);
      await expect(
        sign(alice, { csr: makeCsr({ subject: '/CN=alice' }) }),
      ).rejects.toThrow('another key');
      expect(await states()).toBe('valid,abandoned');
      expect(revoke).not.toHaveBeenCalled();
    });
  });

  it('renews a certificate with its profile and label, and one audit event', async () => {
    await sign(alice, { label: 'laptop' });
    const [{ serialNumber }] = authority.signed;
    auditor.events.length = 0;
    const renewed = await issuance.renew(
      serialNumber,
      makeCsr({ subject: '/CN=alice' }),
      { caller: holder(alice), signal: new AbortController().signal },
    );
    expect(renewed.record).toMatchObject({
      label: 'laptop',
      profile: 'userCerts',
      renewedFrom: serialNumber,
    });
    expect(auditor.events).toMatchObject([
      {
        eventId: 'certificate-sign',
        renewedFrom: String(serialNumber),
        serialNumber: String(authority.signed[1].serialNumber),
        username: 'alice',
      },
    ]);
    await expect(
      issuance.renew(serialNumber, csr, {
        caller: holder(person('bob')),
        signal: new AbortController().signal,
      }),
    ).rejects.toThrow('only by their owner');
    expect(auditor.events.at(-1)).toMatchObject({
      failed: 'CertificateRefusedError',
      renewedFrom: String(serialNumber),
    });
  });

  it.each<[string, Principal, Parameters<typeof sign>[1]]>([
    ['another user', person('bob'), {}],
    ['an invalid CSR', alice, { csr: 'nonsense' }],
  ])(
    'does not call the CA for %s and audits the request',
    async (_what, as, changes) => {
      await expect(sign(as, changes)).rejects.toMatchObject({
        name: 'SigningRefusedError',
      });
      expect(authority.signed).toEqual([]);
      expect(auditor.events).toMatchObject([
        { account: as.username, failed: 'SigningRefusedError' },
      ]);
      expect(JSON.stringify(auditor.events)).not.toContain(changes?.csr ?? csr);
    },
  );

  it.each([
    ['a user hidden by the policy', 'alice', { users: anyOf<UserCondition>() }],
    ['a user that the API does not serve', 'erin', undefined],
  ])(
    'returns the check results of an unknown user for %s',
    async (_what, username, visible) => {
      const check = (name: string) =>
        issuance.check(
          { username: name, profile: 'userCerts', csr },
          {
            caller: holder(person('bob')),
            signal: new AbortController().signal,
            visible,
          },
        );
      const { checks } = await check(username);
      expect(checks[0]).toMatchObject({ rule: 'principal', passed: false });
      expect(checks).toEqual((await check('nobody')).checks);
    },
  );

  it('rejects a blocked key before the CA signs', async () => {
    const { certificate } = await sign(alice);
    await blockedKeys.block(certificate, { blockedBy: 'dave' });
    await expect(sign(person('signer'))).rejects.toMatchObject({
      failedRule: { rule: 'key', denial: 'invalid' },
    });
    expect(authority.signed).toHaveLength(1);
  });

  it('revokes the certificate when its key is blocked while the CA signs', async () => {
    whileSigning = ({ certificate }) =>
      blockedKeys.block(certificate, { blockedBy: 'dave' });
    await expect(sign(alice)).rejects.toMatchObject({
      failedRule: { rule: 'key' },
    });
    const [{ serialNumber }] = authority.signed;
    expect(revoke.mock.calls).toEqual([
      [
        {
          serialNumber,
          reason: 'keyCompromise',
          revokedBy: 'directory-gateway',
        },
      ],
    ]);
    expect(auditor.events[0]).toEqual({
      eventId: 'certificate-revoke',
      actor: 'directory-gateway',
      serialNumber: String(serialNumber),
      reason: 'keyCompromise',
    });

    revoke
      .mockRejectedValueOnce(new AuthorityUnavailableError('No connection'))
      .mockResolvedValueOnce(undefined);
    for (const _ of ['unavailable', 'not found']) {
      const otherKey = makeCsr({ subject: '/CN=alice' });
      await expect(sign(alice, { csr: otherKey })).rejects.toMatchObject({
        name: 'OutcomeUnknownError',
      });
    }
  });

  it('does not sign when blocked keys cannot be read', async () => {
    await knex.schema.dropTable('directory_blocked_keys');
    await expect(sign(alice)).rejects.toMatchObject({
      name: 'AuthorityUnavailableError',
    });
    expect(authority.signed).toEqual([]);
  });

  it('audits the denial of a caller who may not request certificates', async () => {
    const credentials = mockCredentials.user('user:default/guest');
    await issuance.recordDenial({
      caller: { kind: 'portalUser', credentials, client: { ip: '192.0.2.7' } },
      error: new Error('No'),
    });
    expect(auditor.events).toEqual([
      {
        eventId: 'certificate-sign',
        actor: 'user:default/guest',
        credential: 'portalToken',
        address: '192.0.2.7',
        failed: 'Error',
      },
    ]);
  });

  it('audits a check for another user but not for the caller', async () => {
    const check = (username: string) =>
      issuance.check(
        { username, profile: 'userCerts', csr },
        {
          caller: holder(alice),
          signal: new AbortController().signal,
        },
      );
    await check('Alice');
    expect(auditor.events).toEqual([]);
    await check('bob');
    expect(auditor.events).toMatchObject([
      { account: 'alice', username: 'bob', dryRun: 'true' },
    ]);
  });

  it('does not audit text of the request that is not a valid name', async () => {
    const text = `alice@example.test\n${'x'.repeat(120_000)}`;
    await expect(
      sign(alice, { username: text, profile: text }),
    ).rejects.toMatchObject({ name: 'SigningRefusedError' });
    expect(auditor.events).toMatchObject([
      { username: 'invalid', profile: 'unknown' },
    ]);
    expect(JSON.stringify(auditor.events).length).toBeLessThan(1000);
  });

  it('audits a request that exceeds the limit', async () => {
    for (const time of [1, 2, 3]) {
      await sign(alice, { csr: makeCsr({ subject: '/CN=alice' }) });
      expect(authority.signed).toHaveLength(time);
    }
    await expect(sign(alice)).rejects.toMatchObject({
      name: 'SigningLimitExceededError',
      retryAfterMs: expect.any(Number),
    });
    expect(authority.signed).toHaveLength(3);
    expect(auditor.events.at(-1)).toMatchObject({
      account: 'alice',
      failed: 'SigningLimitExceededError',
    });
    // Each user is counted separately.
    await sign(person('signer'));
  });

  it('refuses a user who has the maximum number of certificates', async () => {
    const owner = { username: 'former-name', stableId: alice.stableId };
    const issued = [];
    for (let n = 0; n < 4; n++) {
      issued.push(await issue({ owner }));
    }
    await knex(RECORDS)
      .where({ id: issued[0].id })
      .update({ not_after: new Date(Date.now() - 1000) });
    authority.signed.length = 0;
    await sign(alice);
    await expect(
      sign(alice, { csr: makeCsr({ subject: '/CN=alice' }) }),
    ).rejects.toThrow('The user has 4 certificates that have not expired');
    expect(authority.signed).toHaveLength(1);
    expect(await states()).not.toContain('reserved');
    // A repeated request returns the certificate.
    await sign(alice);
    expect(authority.signed).toHaveLength(1);
    expect(auditor.events).toContainEqual(
      expect.objectContaining({ failed: 'CertificateRefusedError' }),
    );
  });
});
