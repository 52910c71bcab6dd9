import { mockCredentials, mockServices } from '@backstage/backend-test-utils';
import type { IssuedCertificate } from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  createHash,
  createPublicKey,
  type KeyObject,
  sign as signWith,
} from 'node:crypto';
import { PermissiveAuthority } from '../__testUtils__/certificates/PermissiveAuthority';
import { makeCsrAndKey } from '../__testUtils__/certificates/makeCsr';
import { accountsOf, holder, person } from '../__testUtils__/people';
import { withDatabase } from '../__testUtils__/withDatabase';
import type { Caller } from '../directory/Caller';
import type { Principal } from '../directory/Principal';
import { openDatabase } from '../openDatabase';
import { SecretKeys } from '../secretKeys';
import { CertificateRecords } from './CertificateRecords';
import { KeyProofs, NONCE_KEYS, signedText } from './KeyProofs';
import { hasFreshProof, RenewalService } from './RenewalService';

const alice: Principal = { ...person('alice'), stableId: 'ipaUniqueID=1' };
const { csr: newCsr } = makeCsrAndKey({ subject: '/CN=alice' });
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
    ['a key', { kind: 'certificate', serialNumber: 1n }, true],
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
  const people = new Array<Principal>();
  let authority: PermissiveAuthority;
  let block: jest.Mock;
  let blocked: Set<string>;
  let proofs: KeyProofs;
  let renewals: RenewalService;
  let sign: jest.Mock;
  let authorize: jest.Mock;
  let serialNumber: bigint;
  let key: KeyObject;
  let renewed: IssuedCertificate;

  beforeEach(async () => {
    people.splice(0, people.length, alice);
    authority = new PermissiveAuthority();
    block = jest.fn();
    blocked = new Set();
    authorize = jest.fn();
    const knex = await openDatabase(database);
    const records = new CertificateRecords(knex);
    proofs = new KeyProofs({
      database: knex,
      keys: SecretKeys.random(NONCE_KEYS),
      records,
    });
    const old = makeCsrAndKey({ subject: '/CN=alice' });
    key = old.key;
    const request = {
      ...createSigningRequest({
        username: 'alice',
        principal: 'alice@EXAMPLE.TEST',
        profile: 'userCerts',
      }),
      publicKey: spkiOf(key),
    };
    const issued = await authority.sign(request);
    renewed = await authority.sign(request);
    const { description } = issued.certificate;
    serialNumber = description.ok ? description.certificate.serialNumber : 0n;
    await records.add({
      serialNumber,
      username: 'alice',
      subjectId: alice.stableId,
      profile: 'userCerts',
      label: 'laptop',
      publicKey: request.publicKey,
      notAfter: new Date(Date.now() + 60_000),
      lookupServer: undefined,
    });
    sign = jest.fn().mockResolvedValue(renewed);
    renewals = new RenewalService({
      accounts: accountsOf(people),
      auditor: mockServices.auditor.mock({
        createEvent: async () => ({ success: jest.fn(), fail: jest.fn() }),
      }),
      authority,
      blockedKeys: { has: async hash => blocked.has(hash), block },
      issuance: { sign },
      proofs,
      records,
    });
  });

  const renewByKey = () => {
    const { nonce } = proofs.createNonce(serialNumber);
    const der = Buffer.from(newCsr.replace(/-----.*-----|\s/g, ''), 'base64');
    const subject = createHash('sha256').update(der).digest('hex');
    const text = signedText({ purpose: 'renewal', nonce, subject });
    const signature = signWith('sha256', text, key).toString('base64');
    return renewals.renewByKey(
      { serialNumber, csr: newCsr, nonce, signature },
      { client: { ip: '127.0.0.1' }, signal, authorize },
    );
  };
  const renewAs = (account: Principal) =>
    renewals.renew(
      { serialNumber, csr: newCsr },
      { caller: holder(account), signal },
    );

  it('signs with the profile and label of the old certificate', async () => {
    await renewByKey();
    const request = {
      username: 'alice',
      profile: 'userCerts',
      renewal: { from: serialNumber, byKey: true },
    };
    expect(sign).toHaveBeenCalledWith(
      expect.objectContaining({ ...request, csr: newCsr, label: 'laptop' }),
      expect.objectContaining({
        caller: expect.objectContaining({ kind: 'certificate', serialNumber }),
      }),
    );
    expect(authorize).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'on hold',
      () => authority.hold({ serialNumber, heldBy: 'test' }),
      /on hold/,
    ],
    [
      'revoked',
      () =>
        authority.revoke({
          serialNumber,
          reason: 'superseded',
          revokedBy: 'test',
        }),
      /revoked/,
    ],
    [
      'whose key is blocked',
      () => blocked.add(createHash('sha256').update(spkiOf(key)).digest('hex')),
      /compromised/,
    ],
    [
      'that has expired',
      async () =>
        (await database.getClient())('directory_certificates').update({
          not_after: new Date(Date.now() - 1000),
        }),
      /expired/,
    ],
  ])('refuses a certificate %s', async (_name, prepare, message) => {
    await prepare();
    await expect(renewByKey()).rejects.toThrow(message);
    await expect(renewAs(alice)).rejects.toThrow(message);
    expect(sign).not.toHaveBeenCalled();
  });

  it.each<[string, () => unknown, number]>([
    [
      'revoked',
      () =>
        authority.revoke({
          serialNumber,
          reason: 'superseded',
          revokedBy: 'test',
        }),
      9,
    ],
    ['put on hold', () => authority.hold({ serialNumber, heldBy: 'test' }), 9],
    [
      'compromised',
      () => blocked.add(createHash('sha256').update(spkiOf(key)).digest('hex')),
      1,
    ],
  ])(
    'revokes the new certificate when the old one is %s while the CA signs',
    async (_name, change, reason) => {
      sign.mockImplementation(async () => {
        await change();
        return renewed;
      });
      await expect(renewByKey()).rejects.toThrow('certificate');
      const { description } = renewed.certificate;
      const revoked = description.ok
        ? await authority.get(description.certificate.serialNumber)
        : undefined;
      expect(revoked?.revocation?.reason).toBe(reason);
      expect(block).toHaveBeenCalledTimes(reason === 1 ? 1 : 0);
    },
  );

  it('refuses a renewal by key when the record has no account ID', async () => {
    await (
      await database.getClient()
    )('directory_certificates').update({ subject_id: null });
    await expect(renewByKey()).rejects.toThrow('account of the certificate');
    expect(sign).not.toHaveBeenCalled();
    await renewAs(alice);
  });

  it('verifies the nonce before the CSR', async () => {
    const { nonce } = proofs.createNonce(serialNumber + 1n);
    await expect(
      renewals.renewByKey(
        { serialNumber, csr: 'not a CSR', nonce, signature: '' },
        { signal, authorize },
      ),
    ).rejects.toMatchObject({ name: 'KeyProofRefusedError' });
  });

  it('keeps used nonces for an instance whose clock is behind', async () => {
    const knex = await database.getClient();
    const used = (nonce: string, minutes: number) => ({
      nonce_sha256: nonce,
      expires_at: new Date(Date.now() - minutes * 60_000),
    });
    await knex('directory_used_nonces').insert([
      used('recent', 9),
      used('old', 11),
    ]);
    await renewByKey();
    expect(await knex('directory_used_nonces').pluck('nonce_sha256')).toEqual(
      expect.arrayContaining(['recent']),
    );
    expect(
      await knex('directory_used_nonces').where({ nonce_sha256: 'old' }),
    ).toEqual([]);
  });

  it('refuses locked, deleted and different accounts, and denied operations', async () => {
    people[0] = { ...alice, locked: true };
    await expect(renewByKey()).rejects.toThrow('locked');
    people[0] = { ...alice, stableId: 'ipaUniqueID=2' };
    await expect(renewByKey()).rejects.toThrow('another account');
    await expect(renewAs(people[0])).rejects.toThrow('only by their owner');
    await expect(renewAs(person('bob'))).rejects.toThrow('only by their owner');
    people.pop();
    await expect(renewByKey()).rejects.toThrow('no such user');
    people.push(alice);
    authorize.mockRejectedValue(new Error('denied'));
    await expect(renewByKey()).rejects.toThrow('denied');
    expect(sign).not.toHaveBeenCalled();
  });
});

function spkiOf(key: KeyObject): Buffer {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return Buffer.from(spki);
}
