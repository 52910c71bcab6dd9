import { ConfigReader } from '@backstage/config';
import type { CertificateAuthority } from '@directory-gateway/backstage-plugin-directory-node';
import { readCertificateRequest } from '@directory-gateway/x509';
import type { Caller, Principal } from '@directory-gateway/directory-core';
import { holder, person } from '@directory-gateway/directory-core/testUtils';
import {
  makeCsr,
  type CsrOptions,
} from '../__testUtils__/certificates/makeCsr';
import { readCertificatesConfig } from './CertificatesConfig';
import { evaluatePolicy } from './evaluatePolicy';
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

function evaluate(options: {
  csr?: string;
  caller?: Caller;
  subject?: Principal;
  profile?: string;
  isKeyBlocked?: boolean;
  keyTypes?: CertificateAuthority['keyTypes'];
  isVisible?: boolean;
}) {
  const csr = options.csr ?? makeCsr({ subject: '/CN=alice' });
  return evaluatePolicy({
    profile: options.profile ?? 'userCerts',
    parsedCsr: readCertificateRequest(csr),
    isKeyBlocked: options.isKeyBlocked ?? false,
    keyTypes: options.keyTypes,
    caller: options.caller ?? holder(alice),
    subject: 'subject' in options ? options.subject : alice,
    isVisible: options.isVisible ?? true,
    config: config(),
  });
}

const firstDenial = (result: ReturnType<typeof evaluate>) => {
  const failed = result.checks.find(({ passed }) => passed === false);
  return failed && [failed.rule, failed.denial];
};

describe('requester and profile', () => {
  it('approves a request from the user and returns the key hash', () => {
    const { approved, checks, keyHash } = evaluate({});
    expect(checks.every(({ passed }) => passed)).toBe(true);
    expect(approved).toMatchObject({
      username: 'alice',
      principal: 'alice@EXAMPLE.TEST',
      profile: 'userCerts',
      requestedBy: 'alice',
    });
    expect(keyHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, Parameters<typeof evaluate>[0], SigningRule, string]>([
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
      'another user as the caller',
      { caller: holder(person('bob')) },
      'requester',
      'forbidden',
    ],
    [
      'a caller with the same name elsewhere',
      { caller: holder({ ...alice, dn: 'uid=alice,cn=other' }) },
      'requester',
      'forbidden',
    ],
    [
      'a portal user as the caller',
      {
        caller: {
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
      'a signer for a member of a protected group',
      { caller: holder(signer), subject: admin },
      'requester',
      'forbidden',
    ],
    [
      'a signer for a member of a protected group on one server only',
      {
        caller: holder(signer),
        subject: { ...alice, possibleGroups: new Set(['admins']) },
      },
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
      'a profile that is limited to another group',
      { profile: 'packagers' },
      'profile',
      'forbidden',
    ],
  ])('refuses %s', (_what, options, rule, denial) => {
    const result = evaluate(options);
    expect(firstDenial(result)).toEqual([rule, denial]);
    expect(result.approved).toBeUndefined();
  });

  it("approves a signer's request for another user, and a protected user's request for themselves", () => {
    expect(evaluate({ caller: holder(signer) }).approved).toMatchObject({
      username: 'alice',
      requestedBy: 'signer',
    });
    const own = evaluate({
      caller: holder(admin),
      subject: admin,
      csr: makeCsr({ subject: '/CN=admin' }),
    });
    expect(own.approved).toMatchObject({ username: 'admin' });
  });

  it('ignores the case of the groups of a profile', () => {
    const packager = person('alice', ['packager']);
    expect(
      evaluate({ subject: packager, profile: 'packagers' }).approved,
    ).toBeDefined();
  });
});

const DENIED = { denial: 'forbidden', message: expect.any(String) };

describe('a request for another user without permission', () => {
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
  ])('reveals nothing about %s', (_what, subject) => {
    const { checks } = evaluate({ caller: bob, subject, csr });
    expect(checks.filter(({ passed }) => passed !== undefined)).toEqual([
      { rule: 'requester', passed: false, ...DENIED },
      { rule: 'profile', passed: true, message: expect.any(String) },
    ]);
    expect(checks).toHaveLength(signingRules.length);
  });

  it('gets the same result for a hidden user as for an unknown user', () => {
    expect(evaluate({ caller: bob, isVisible: false, csr })).toEqual(
      evaluate({ caller: bob, subject: undefined, csr }),
    );
  });

  it('returns all results when the caller is the user', () => {
    const subject = { ...alice, locked: true };
    const { checks } = evaluate({ caller: holder(alice), subject, csr });
    expect(checks[0]).toMatchObject({ rule: 'principal', passed: false });
  });
});

it('rejects a key that was revoked for keyCompromise', () => {
  const result = evaluate({ isKeyBlocked: true });
  expect(firstDenial(result)).toEqual(['key', 'invalid']);
  expect(result.approved).toBeUndefined();
});

describe('keyTypes', () => {
  const pss = ['-sha256', '-sigopt', 'rsa_padding_mode:pss'];

  it.each([
    ['rsa', ['-newkey', 'rsa:2048']],
    ['rsa-pss', ['-newkey', 'rsa:2048', ...pss]],
    ['ec', undefined],
    ['ed25519', ['-newkey', 'ed25519']],
  ] as const)(
    'rejects %s when the CA does not accept it',
    (signature, newKey) => {
      const csr = makeCsr({ subject: '/CN=alice', newKey });
      const all = ['rsa', 'rsa-pss', 'ec', 'ed25519'] as const;
      const others = all.filter(other => other !== signature);
      const accepted = evaluate({
        csr,
        keyTypes: new Set([signature]),
      });
      expect(accepted.approved).toBeDefined();
      const refused = evaluate({ csr, keyTypes: new Set(others) });
      expect(firstDenial(refused)).toEqual(['key', 'invalid']);
      expect(refused.approved).toBeUndefined();
    },
  );
});

describe('names', () => {
  it.each<[string, CsrOptions, SigningRule | undefined]>([
    ['a subject without a CN', { subject: '/O=x' }, 'common_name'],
    [
      'a subject with two CNs',
      { subject: '/CN=alice/CN=alice' },
      'common_name',
    ],
    ["another user's CN", { subject: '/CN=admin' }, 'common_name'],
    ['a CN with different case', { subject: '/CN=Alice' }, 'common_name'],
    ['a CN that looks similar', { subject: '/CN=\u0430lice' }, 'common_name'],
    ['further parts of a subject', { subject: '/O=evil/CN=alice' }, undefined],
    [
      "the user's e-mail address",
      { subject: '/CN=alice/emailAddress=alice@example.test' },
      undefined,
    ],
    [
      "another user's e-mail address",
      { subject: '/CN=alice/emailAddress=bob@example.test' },
      'email_address',
    ],
    [
      "the user's alternative names",
      {
        subject: '/CN=alice',
        alternativeNames:
          'email:alice@example.test,otherName:1.3.6.1.4.1.311.20.2.3;UTF8:alice2@EXAMPLE.TEST',
      },
      undefined,
    ],
    [
      "another user's alternative e-mail address",
      { subject: '/CN=alice', alternativeNames: 'email:bob@example.test' },
      'rfc822_name',
    ],
    [
      "another user's e-mail address after the user's",
      {
        subject: '/CN=alice',
        alternativeNames: 'email:alice@example.test,email:bob@example.test',
      },
      'rfc822_name',
    ],
    [
      "another user's principal",
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
  ])('checks %s', (_what, options, rule) => {
    const result = evaluate({ csr: makeCsr(options) });
    expect(firstDenial(result)?.[0]).toBe(rule);
    expect(result.approved === undefined).toBe(rule !== undefined);
  });

  it('does not check the names of an invalid CSR', () => {
    const { checks, approved } = evaluate({ csr: 'nonsense' });
    const byRule = Object.fromEntries(
      checks.map(({ rule, passed }) => [rule, passed]),
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

describe('readCertificatesConfig', () => {
  it.each([
    [{ profiles: [] }, /profiles/],
    [{ readable: 'some' }, /readable/],
    [{ limit: { requests: 0 } }, /limit\.requests/],
    [{ requirePortalToken: true }, /requirePortalToken requires/],
  ])('names the invalid key in %j', (extra, message) => {
    expect(() => config(extra)).toThrow(message);
  });
});
