import { ConfigReader } from '@backstage/config';
import { readCertificateRequest } from '@directory-gateway/x509';
import { makeCsr, type CsrOptions } from '../__testUtils__/certificates/makeCsr';
import { holder, person } from '../__testUtils__/people';
import type { Caller } from '../directory/Caller';
import type { Principal } from '../directory/Principal';
import { readCertificatesConfig } from './CertificatesConfig';
import { judgeSigning } from './evaluatePolicy';
import { signingRules, type SigningRule } from './signingRules';

const alice = person('alice');
const signer = person('signer');
const admin = person('admin', ['admins']);

const config = (extra: object = {}) =>
  readCertificatesConfig(
    new ConfigReader({
      certificates: {
        authority: 'embedded',
        profiles: [
          { name: 'userCerts' },
          { name: 'packagers', allowedGroups: ['Packager'] },
        ],
        signers: { principals: ['signer'] },
        ...extra,
      },
    }),
  )!;

function judge(options: {
  csr?: string;
  asks?: Caller;
  subject?: Principal;
  profile?: string;
  isKeyBlocked?: boolean;
}) {
  const csr = options.csr ?? makeCsr({ subject: '/CN=alice' });
  return judgeSigning({
    question: { csr, profile: options.profile ?? 'userCerts' },
    reading: readCertificateRequest(csr),
    isKeyBlocked: options.isKeyBlocked ?? false,
    caller: options.asks ?? holder(alice),
    subject: 'subject' in options ? options.subject : alice,
    config: config(),
  });
}

const firstRefusal = (judgement: ReturnType<typeof judge>) => {
  const failed = judgement.verdicts.find(({ passed }) => passed === false);
  return failed && [failed.rule, failed.refusal];
};

describe('who may ask', () => {
  it('approves oneself, with nothing of the request but its key', () => {
    const { approved, verdicts, keyHash } = judge({});
    expect(verdicts.every(({ passed }) => passed)).toBe(true);
    expect(approved).toMatchObject({
      username: 'alice',
      principal: 'alice@EXAMPLE.TEST',
      profile: 'userCerts',
      requestedBy: 'alice',
    });
    expect(keyHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, Parameters<typeof judge>[0], SigningRule, string]>([
    ['an unknown user', { subject: undefined }, 'principal', 'invalid'],
    [
      'a locked user',
      { subject: { ...alice, locked: true } },
      'principal',
      'invalid',
    ],
    [
      'an expired user',
      { subject: { ...alice, expires: new Date(0) } },
      'principal',
      'invalid',
    ],
    [
      'a service',
      { subject: { ...alice, kind: 'service', username: undefined } },
      'principal',
      'invalid',
    ],
    [
      'somebody else',
      { asks: holder(person('bob')) },
      'requester',
      'forbidden',
    ],
    [
      'an entry of the same spelling elsewhere',
      { asks: holder({ ...alice, dn: 'uid=alice,cn=other' }) },
      'requester',
      'forbidden',
    ],
    [
      'a portal user',
      {
        asks: {
          kind: 'portalUser',
          credentials: {
            $$type: '@backstage/BackstageCredentials',
            principal: { type: 'user', userEntityRef: 'user:default/alice' },
          },
          account: { ...alice, source: 'live' },
        },
      },
      'requester',
      'forbidden',
    ],
    [
      'a signer, for a member of a protected group',
      { asks: holder(signer), subject: admin },
      'requester',
      'forbidden',
    ],
    [
      'a profile that is not listed',
      { profile: 'caIPAserviceCert' },
      'profile',
      'invalid',
    ],
    [
      'a profile of another group',
      { profile: 'packagers' },
      'profile',
      'forbidden',
    ],
  ])('refuses %s', (_who, options, rule, refusal) => {
    const judgement = judge(options);
    expect(firstRefusal(judgement)).toEqual([rule, refusal]);
    expect(judgement.approved).toBeUndefined();
  });

  it('lets a signer ask for others, and a protected user for themself', () => {
    expect(judge({ asks: holder(signer) }).approved).toMatchObject({
      username: 'alice',
      requestedBy: 'signer',
    });
    const own = judge({
      asks: holder(admin),
      subject: admin,
      csr: makeCsr({ subject: '/CN=admin' }),
    });
    expect(own.approved).toMatchObject({ username: 'admin' });
  });

  it('opens a profile to a group, whatever the case of its name', () => {
    const packager = person('alice', ['packager']);
    expect(
      judge({ subject: packager, profile: 'packagers' }).approved,
    ).toBeDefined();
  });
});

const REFUSED = { refusal: 'forbidden', message: expect.any(String) };

describe('a request for another user, by a caller who may not', () => {
  const bob = holder(person('bob'));
  const csr = makeCsr({
    subject: '/CN=alice',
    alternativeNames: 'email:alice@example.test',
  });

  it.each<[string, Principal]>([
    ['a user', alice],
    ['a locked user', { ...alice, locked: true }],
    ['an expired user', { ...alice, expires: new Date(0) }],
    ['a user with other names', { ...alice, emails: [], principalNames: [] }],
  ])('gets no facts about %s', (_what, subject) => {
    const { verdicts } = judge({ asks: bob, subject, csr });
    expect(verdicts.filter(({ passed }) => passed !== undefined)).toEqual([
      { rule: 'requester', passed: false, ...REFUSED },
      { rule: 'profile', passed: true, message: expect.any(String) },
    ]);
    expect(verdicts).toHaveLength(signingRules.length);
  });

  it('cannot tell an account that is not served from an unknown one', () => {
    const unserved = { ...alice, served: false };
    expect(judge({ asks: bob, subject: unserved, csr })).toEqual(
      judge({ asks: bob, subject: undefined, csr }),
    );
  });

  it('gets all results about itself', () => {
    const subject = { ...alice, locked: true };
    const { verdicts } = judge({ asks: holder(alice), subject, csr });
    expect(verdicts[0]).toMatchObject({ rule: 'principal', passed: false });
  });
});

it('refuses a key that was revoked for keyCompromise', () => {
  const judgement = judge({ isKeyBlocked: true });
  expect(firstRefusal(judgement)).toEqual(['key', 'invalid']);
  expect(judgement.approved).toBeUndefined();
});

describe('which names', () => {
  it.each<[string, CsrOptions, SigningRule | undefined]>([
    ['no CN', { subject: '/O=x' }, 'common_name'],
    ['two CNs', { subject: '/CN=alice/CN=alice' }, 'common_name'],
    ['another CN', { subject: '/CN=admin' }, 'common_name'],
    ['a CN of another case', { subject: '/CN=Alice' }, 'common_name'],
    ['a look-alike CN', { subject: '/CN=\u0430lice' }, 'common_name'],
    ['the rest of a subject', { subject: '/O=evil/CN=alice' }, undefined],
    [
      'their own address',
      { subject: '/CN=alice/emailAddress=alice@example.test' },
      undefined,
    ],
    [
      "another's address",
      { subject: '/CN=alice/emailAddress=bob@example.test' },
      'email_address',
    ],
    [
      'their own alternative names',
      {
        subject: '/CN=alice',
        alternativeNames:
          'email:alice@example.test,otherName:1.3.6.1.4.1.311.20.2.3;UTF8:alice2@EXAMPLE.TEST',
      },
      undefined,
    ],
    [
      "another's alternative address",
      { subject: '/CN=alice', alternativeNames: 'email:bob@example.test' },
      'rfc822_name',
    ],
    [
      "another's principal",
      {
        subject: '/CN=alice',
        alternativeNames:
          'otherName:1.3.6.1.4.1.311.20.2.3;UTF8:admin@EXAMPLE.TEST',
      },
      'principal_name',
    ],
    ...[
      'DNS:www.example.test',
      'IP:127.0.0.1',
      'URI:https://x.test',
      'RID:1.2.3',
    ].map((name): [string, CsrOptions, SigningRule] => [
      name,
      { subject: '/CN=alice', alternativeNames: name },
      'other_name',
    ]),
  ])('%s', (_what, options, rule) => {
    const judgement = judge({ csr: makeCsr(options) });
    expect(firstRefusal(judgement)?.[0]).toBe(rule);
    expect(judgement.approved === undefined).toBe(rule !== undefined);
  });

  it('says of a request that cannot be read why, and leaves its names open', () => {
    const { verdicts, approved } = judge({ csr: 'nonsense' });
    const byRule = Object.fromEntries(
      verdicts.map(({ rule, passed }) => [rule, passed]),
    );
    expect(byRule).toEqual({
      principal: true,
      requester: true,
      profile: true,
      request: false,
      key: undefined,
      common_name: undefined,
      email_address: undefined,
      rfc822_name: undefined,
      principal_name: undefined,
      other_name: undefined,
    });
    expect(approved).toBeUndefined();
  });
});

describe('the configuration', () => {
  it.each([
    [{ defaultProfile: 'nope' }, /defaultProfile/],
    [{ profiles: [] }, /profiles/],
    [{ readable: 'some' }, /readable/],
    [{ limit: { requests: 0 } }, /limit\.requests/],
    [{ requirePortalToken: true }, /requirePortalToken needs/],
  ])('refuses %j by its key', (extra, message) => {
    expect(() => config(extra)).toThrow(message);
  });
});
