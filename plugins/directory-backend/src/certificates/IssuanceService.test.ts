import { mockCredentials } from '@backstage/backend-test-utils';
import { ConfigReader } from '@backstage/config';
import {
  resolvePackagePath,
  type AuditorService,
} from '@backstage/backend-plugin-api';
import {
  AuthorityUnavailableError,
  migrateDatabase,
  type IssuedCertificate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { X509Certificate } from 'node:crypto';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { accountsOf, holder, person } from '../__testUtils__/people';
import { withDatabase } from '../__testUtils__/withDatabase';
import { anyOf, type UserCondition } from '../directory/predicates';
import type { Principal } from '../directory/Principal';
import { emptyUser } from '../directory/records';
import { openDatabase } from '../openDatabase';
import { BlockedKeys } from './BlockedKeys';
import { IssuanceService } from './IssuanceService';
import { readCertificatesConfig } from './CertificatesConfig';
import { CertificateRecords } from './CertificateRecords';
import { SigningLimit } from './SigningLimit';

const alice: Principal = {
  ...person('alice'),
  stableId: 'ipaUniqueID=1',
  server: 'ldaps://ipa.example.test',
};
const admin = person('admin', ['admins']);
const locked = { ...person('carol'), locked: true };
const unserved = { ...person('erin'), served: false };
const people = [
  ...[alice, admin, locked, unserved],
  ...[person('bob'), person('signer')],
];
const csr = makeCsr({ subject: '/CN=alice' });

const config = readCertificatesConfig(
  new ConfigReader({
    certificates: {
      authority: 'freeipa',
      profiles: [
        { name: 'userCerts' },
        { name: 'packagers', allowedGroups: ['packager'] },
      ],
      signers: { principals: ['signer'] },
      limit: { requests: 3 },
      maxPerUser: 4,
    },
  }),
)!;

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
  let authority: PermissiveAuthority;
  let blockedKeys: BlockedKeys;
  let whileSigning: (issued: IssuedCertificate) => Promise<unknown>;
  let revoke: jest.Mock;
  let auditor: AuditTrail;
  let records: CertificateRecords;
  let issuance: IssuanceService;

  beforeEach(async () => {
    authority = new PermissiveAuthority();
    auditor = new AuditTrail();
    const limit = await SigningLimit.create({
      database: await database.getClient(),
      limit: config.limit,
    });
    blockedKeys = new BlockedKeys(await openDatabase(database));
    records = new CertificateRecords(await openDatabase(database));
    whileSigning = async () => {};
    revoke = jest.fn().mockResolvedValue({});
    issuance = new IssuanceService({
      accounts: accountsOf(people),
      authority: {
        async sign(request) {
          const issued = await authority.sign(request);
          await whileSigning(issued);
          return issued;
        },
        revoke,
      },
      auditor,
      blockedKeys,
      config,
      directory: {
        getUser: async ({ username }, { visible }) =>
          visible?.users && username !== 'bob'
            ? undefined
            : { ...emptyUser(), username },
      },
      limit,
      records,
    });
  });

  const sign = (
    as: Principal,
    changes: Partial<Parameters<IssuanceService['sign']>[0]> = {},
  ) =>
    issuance.sign(
      { username: 'alice', profile: 'userCerts', csr, ...changes },
      { caller: holder(as), signal: new AbortController().signal },
    );

  it('signs and audits a request that passes all rules', async () => {
    let issued: IssuedCertificate | undefined;
    whileSigning = async certificate => {
      issued = certificate;
    };
    // The same instance, so that its description is not parsed again.
    expect(await sign(alice)).toBe(issued);
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
        serialNumber: expect.stringMatching(/^\d+$/),
      },
    ]);
  });

  it('records the account of the certificate', async () => {
    const renewedFrom = 7n;
    const { certificate } = await sign(alice, { label: 'laptop', renewedFrom });
    const { description } = certificate;
    const serialNumber = description.ok
      ? description.certificate.serialNumber
      : 0n;
    expect(await records.get(serialNumber)).toEqual({
      serialNumber,
      username: 'alice',
      subjectId: 'ipaUniqueID=1',
      profile: 'userCerts',
      label: 'laptop',
      publicKey: authority.signed[0].publicKey,
      notAfter: new Date(new X509Certificate(certificate.der).validTo),
      renewedFrom,
    });
  });

  it('returns a certificate only after it is recorded', async () => {
    let first: IssuedCertificate | undefined;
    jest.spyOn(authority, 'sign').mockResolvedValue(
      await new PermissiveAuthority().sign(
        createSigningRequest({
          username: 'alice',
          principal: 'alice@EXAMPLE.TEST',
          profile: 'userCerts',
        }),
      ),
    );
    jest
      .spyOn(records, 'add')
      .mockRejectedValueOnce(new AuthorityUnavailableError('Down'));
    whileSigning = async issued => {
      first ??= issued;
    };
    await expect(sign(alice)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
    });
    // The CA returns the same certificate for a repeated request.
    const { certificate } = await sign(alice);
    expect(certificate).toBe(first!.certificate);
    const { description } = certificate;
    expect(
      description.ok &&
        (await records.get(description.certificate.serialNumber)),
    ).toMatchObject({ username: 'alice', subjectId: alice.stableId });
  });

  it.each<[string, Principal, Parameters<typeof sign>[1]]>([
    ['another user', person('bob'), {}],
    ['an unknown user', person('signer'), { username: 'nobody' }],
    ['a locked user', person('signer'), { username: 'carol' }],
    [
      'a protected user when requested by a signer',
      person('signer'),
      { username: 'admin', csr: makeCsr({ subject: '/CN=admin' }) },
    ],
    ['a profile that is not offered', alice, { profile: 'caIPAserviceCert' }],
    [
      'a profile that is limited to other groups',
      alice,
      { profile: 'packagers' },
    ],
    [
      'another user name in the CSR',
      alice,
      { csr: makeCsr({ subject: '/CN=admin' }) },
    ],
    [
      'a host name in the CSR',
      alice,
      {
        csr: makeCsr({
          subject: '/CN=alice',
          alternativeNames: 'DNS:ipa.example.test',
        }),
      },
    ],
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

  it('blocks keys that the embedded CA revoked before the upgrade', async () => {
    const { certificate } = await sign(alice);
    const knex = await database.getClient();
    await knex.schema.dropTable('directory_blocked_keys');
    await knex('directory_migrations').delete();
    for (const table of [
      'directory_reminders',
      'directory_guard_history',
      'directory_guard_overrides',
      'directory_quarantines',
      'directory_change_writer',
      'directory_change_entries',
      'directory_change_members',
      'directory_changes',
      'directory_certificates',
      'directory_certificate_holds',
      'directory_hold_approvals',
      'directory_hold_state',
      'directory_used_nonces',
    ]) {
      await knex.schema.dropTableIfExists(table);
    }
    await migrateDatabase({
      database: knex,
      directory: resolvePackagePath(
        '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca',
        'migrations',
      ),
      tableName: 'embedded_ca_migrations',
    });
    const now = new Date();
    await knex('embedded_ca_authorities').insert({
      id: 'a',
      chain: '',
      created_at: now,
    });
    await knex('embedded_ca_certificates').insert({
      serial_number: '1',
      authority_id: 'a',
      username: 'alice',
      profile: 'userCerts',
      requested_by: 'alice',
      reserved_at: now,
      not_before: now,
      not_after: now,
      certificate: certificate.der,
      revoked_at: now,
      revocation_reason: 1,
      revoked_by: 'user:default/admin',
    });
    await openDatabase(database);
    await expect(sign(alice)).rejects.toMatchObject({
      failedRule: { rule: 'key' },
    });
    expect(await knex('directory_blocked_keys')).toMatchObject([
      { serial_number: '1', blocked_by: 'user:default/admin' },
    ]);
  });

  it('revokes the certificate when its key is blocked while the CA signs', async () => {
    whileSigning = ({ certificate }) =>
      blockedKeys.block(certificate, { blockedBy: 'dave' });
    await expect(sign(alice)).rejects.toMatchObject({
      failedRule: { rule: 'key' },
    });
    const [{ serialNumber }] = auditor.events as { serialNumber: string }[];
    expect(revoke.mock.calls).toEqual([
      [
        {
          serialNumber: BigInt(serialNumber),
          reason: 'keyCompromise',
          revokedBy: 'directory-gateway',
        },
      ],
    ]);

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
    await (
      await database.getClient()
    ).schema.dropTable('directory_blocked_keys');
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
      await sign(alice);
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

  it('replaces a record when the key differs, and keeps it when the key is the same', async () => {
    const record = {
      serialNumber: 1n,
      username: 'bob',
      subjectId: 'ipaUniqueID=2',
      profile: 'userCerts',
      label: 'old',
      publicKey: Buffer.from('old'),
      notAfter: new Date(0),
    };
    await records.add(record);
    await records.add({ ...record, username: 'carol', label: undefined });
    expect(await records.get(1n)).toMatchObject(record);
    const changed = {
      ...record,
      username: 'alice',
      subjectId: alice.stableId,
      label: undefined,
      publicKey: Buffer.from('new'),
    };
    await records.add(changed);
    expect(await records.get(1n)).toEqual({
      ...changed,
    });
  });

  it('refuses a user who has the maximum number of certificates', async () => {
    const record = (serialNumber: bigint, notAfter: number) =>
      records.add({
        serialNumber,
        username: 'former-name',
        subjectId: alice.stableId,
        profile: 'userCerts',
        label: undefined,
        publicKey: Buffer.alloc(1),
        notAfter: new Date(Date.now() + notAfter),
      });
    await record(1n, 60_000);
    await record(2n, 60_000);
    await record(3n, 60_000);
    await record(4n, -60_000);
    await sign(alice);
    await expect(sign(alice)).rejects.toThrow(
      'The user has 4 certificates that have not expired',
    );
    expect(authority.signed).toHaveLength(1);
    expect(auditor.events.at(-1)).toMatchObject({
      failed: 'TooManyCertificatesError',
    });
  });

  it('counts requests across all processes that share the database', async () => {
    const others = await SigningLimit.create({
      database: await database.getClient(),
      limit: config.limit,
    });
    const caller = holder(person('bob'));
    await others.consume(caller);
    await others.consume(caller);
    await others.consume(caller);
    await expect(sign(person('bob'))).rejects.toMatchObject({
      name: 'SigningLimitExceededError',
    });
  });
});
