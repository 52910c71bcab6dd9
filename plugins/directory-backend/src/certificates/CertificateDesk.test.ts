import { ConfigReader } from '@backstage/config';
import type { AuditorService } from '@backstage/backend-plugin-api';
import { GullibleAuthority } from '../__testUtils__/GullibleAuthority';
import { makeCsr } from '../__testUtils__/makeCsr';
import { directoryOf, holder, person } from '../__testUtils__/people';
import { withDatabase } from '../__testUtils__/withDatabase';
import type { Principal } from '../directory/Principal';
import { CertificateDesk } from './CertificateDesk';
import { readCertificatesConfig } from './CertificatesConfig';
import { SigningLimit } from './SigningLimit';

const alice = person('alice');
const admin = person('admin', ['admins']);
const locked = { ...person('carol'), locked: true };
const people = [alice, admin, locked, person('bob'), person('signer')];
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
    },
  }),
)!;

/** Keeps each event with how it ended. */
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

describe('CertificateDesk', () => {
  const database = withDatabase();
  let authority: GullibleAuthority;
  let auditor: AuditTrail;
  let desk: CertificateDesk;

  beforeEach(async () => {
    authority = new GullibleAuthority();
    auditor = new AuditTrail();
    const limit = await SigningLimit.create({
      ...{ database, limit: config.limit },
    });
    const directory = directoryOf(people);
    desk = new CertificateDesk({
      ...{ authority, auditor, config, directory, limit },
    });
  });

  const sign = (
    as: Principal,
    changes: Partial<Parameters<CertificateDesk['sign']>[0]> = {},
  ) =>
    desk.sign(
      { username: 'alice', profile: 'userCerts', csr, ...changes },
      { caller: holder(as), signal: new AbortController().signal },
    );

  it('has what the rules allow signed, and puts it on record', async () => {
    await sign(alice);
    expect(authority.signed).toMatchObject([
      { username: 'alice', requestedBy: 'alice', profile: 'userCerts' },
    ]);
    expect(auditor.events).toEqual([
      {
        eventId: 'certificate-sign',
        ...{ requestedBy: 'alice', username: 'alice', profile: 'userCerts' },
        keyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        serialNumber: expect.stringMatching(/^\d+$/),
      },
    ]);
  });

  it.each<[string, Principal, Parameters<typeof sign>[1]]>([
    ['somebody else', person('bob'), {}],
    ['nobody', person('signer'), { username: 'nobody' }],
    ['a locked user', person('signer'), { username: 'carol' }],
    [
      'a protected user, by a signer',
      person('signer'),
      { username: 'admin', csr: makeCsr({ subject: '/CN=admin' }) },
    ],
    ['a profile that is not offered', alice, { profile: 'caIPAserviceCert' }],
    ['a profile of others', alice, { profile: 'packagers' }],
    ['another name', alice, { csr: makeCsr({ subject: '/CN=admin' }) }],
    [
      'the name of a host',
      alice,
      {
        csr: makeCsr({
          subject: '/CN=alice',
          alternativeNames: 'DNS:ipa.example.test',
        }),
      },
    ],
    ['what cannot be read', alice, { csr: 'nonsense' }],
  ])(
    'never asks an authority for %s, and puts it on record',
    async (_what, as, changes) => {
      await expect(sign(as, changes)).rejects.toMatchObject({
        name: 'SigningRefusedError',
      });
      expect(authority.signed).toEqual([]);
      expect(auditor.events).toMatchObject([
        { requestedBy: as.username, failed: 'SigningRefusedError' },
      ]);
      expect(JSON.stringify(auditor.events)).not.toContain(changes?.csr ?? csr);
    },
  );

  it('puts on record who may not even place an order', async () => {
    await desk.recordRefusal(holder(person('bob')), new Error('No'));
    expect(auditor.events).toEqual([
      { eventId: 'certificate-sign', requestedBy: 'bob', failed: 'Error' },
    ]);
  });

  it('puts on record who asks too often', async () => {
    for (const time of [1, 2, 3]) {
      await sign(alice);
      expect(authority.signed).toHaveLength(time);
    }
    await expect(sign(alice)).rejects.toMatchObject({
      ...{ name: 'TooManyRequestsError', status: 429 },
      headers: { 'Retry-After': expect.stringMatching(/^\d+$/) },
    });
    expect(authority.signed).toHaveLength(3);
    expect(auditor.events.at(-1)).toMatchObject({
      ...{ requestedBy: 'alice', failed: 'TooManyRequestsError' },
    });
    // Everybody has a count of their own.
    await sign(person('signer'));
  });

  it('counts over all processes that share the database', async () => {
    const others = await SigningLimit.create({
      ...{ database, limit: config.limit },
    });
    const caller = holder(person('bob'));
    await others.consume(caller);
    await others.consume(caller);
    await others.consume(caller);
    await expect(sign(person('bob'))).rejects.toMatchObject({ status: 429 });
  });
});
