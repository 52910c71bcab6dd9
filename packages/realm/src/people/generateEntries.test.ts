import { X509Certificate } from 'node:crypto';
import { addMemberOf } from '../directory/importEntries';
import { formatLdif } from '../ldif/ldif';
import type { LdifEntry } from '../ldif/LdifEntry';
import { generateEntries, type GenerateOptions } from './generateEntries';
import { groupDn } from './Group';
import { personDn } from './Person';
import { AUTHORITY_PUBLIC_KEY } from './userCertificate';

/** The names that the gateway serves. */
const NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,254}\$?$/;

function generate(options: Partial<GenerateOptions> = {}): LdifEntry[] {
  return generateEntries({
    users: 3000,
    seed: 1,
    schema: 'fas',
    demo: false,
    ...options,
  });
}

function named(entries: readonly LdifEntry[], dn: string): LdifEntry {
  const entry = entries.find(candidate => candidate.dn === dn);
  if (!entry) {
    throw new Error(`No ${dn}`);
  }
  return entry;
}

describe('generateEntries', () => {
  const entries = generate();
  const people = entries.filter(entry => entry.isA('fasUser'));
  const share = (test: (entry: LdifEntry) => boolean) =>
    people.filter(test).length / people.length;

  it('generates the same entries for the same seed, and different ones for another seed', () => {
    const text = (all: LdifEntry[]) => all.map(formatLdif).join('');
    expect(text(generate())).toBe(text(entries));
    expect(text(generate({ seed: 2 }))).not.toBe(text(entries));
  });

  it('generates the requested number of users, with unique names', () => {
    expect(people).toHaveLength(3000);
    const uids = entries.flatMap(entry => entry.texts('uid'));
    expect(new Set(uids.map(uid => uid.toLowerCase())).size).toBe(uids.length);
    const mails = people.flatMap(entry => entry.texts('mail'));
    expect(new Set(mails).size).toBe(mails.length);
  });

  it('generates realistic shares of private and locked accounts', () => {
    const isPrivate = share(entry => entry.texts('fasIsPrivate')[0] === 'TRUE');
    const isLocked = share(entry => entry.texts('nsAccountLock')[0] === 'TRUE');
    expect(isPrivate).toBeGreaterThan(0.01);
    expect(isPrivate).toBeLessThan(0.03);
    expect(isLocked).toBeGreaterThan(0.005);
    expect(isLocked).toBeLessThan(0.02);
  });

  it.each([
    'displayName',
    'mail',
    'fasIsPrivate',
    'fasIRCNick',
    'fasGPGKeyId',
    'fasTimezone',
    'fasLocale',
    'fasGitHubUsername',
    'fasGitLabUsername',
    'fasPronoun',
    'fasRHBZEmail',
    'fasWebsiteUrl',
    'fasRssUrl',
    'ipaSshPubKey',
    'userCertificate;binary',
    'nsAccountLock',
  ])('generates %s for some users only', attribute => {
    const some = share(entry => entry.all(attribute).length > 0);
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(1);
  });

  it.each(['mail', 'fasIRCNick', 'fasGPGKeyId', 'fasPronoun', 'fasWebsiteUrl'])(
    'generates several values of %s for some users',
    attribute => {
      expect(share(entry => entry.all(attribute).length > 1)).toBeGreaterThan(
        0,
      );
    },
  );

  it.each([
    ['a name with non-ASCII characters', 'displayName', /[^\x20-\x7e]/],
    ['a name with special characters of LDAP', 'sn', /[*()\\,+"<>;#=]/],
    ['a login with a dot', 'uid', /\./],
    ['a login with a dash', 'uid', /.-/],
    ['a login with an underscore', 'uid', /_/],
    ['a login with a capital letter', 'uid', /[A-Z]/],
    ['a login that starts with an underscore', 'uid', /^_/],
    ['a login that ends in a dollar sign', 'uid', /\$$/],
    ['an irc nick', 'fasIRCNick', /^irc:\/\w/],
    ['an irc nick on a server', 'fasIRCNick', /^irc:\/\/[\w.]+\/\w/],
    ['a matrix nick', 'fasIRCNick', /^matrix:\/\w/],
    ['a matrix nick on a server', 'fasIRCNick', /^matrix:\/\/[\w.]+\/\w/],
    ['a trailing space', 'fasPronoun', / $/],
    ['a leading space', 'fasPronoun', /^ /],
  ])('generates %s', (_what, attribute, pattern) => {
    expect(
      people.some(entry =>
        entry.texts(attribute).some(text => pattern.test(text)),
      ),
    ).toBe(true);
  });

  it('describes the groups of the demo for people', () => {
    const groups = generate({ demo: true }).filter(({ dn }) =>
      dn.includes(',cn=groups,'),
    );
    const texts = groups.flatMap(entry => [
      ...entry.texts('description'),
      ...entry.texts('fasURL'),
    ]);
    expect(texts).toContain('Maintains packages of the distribution');
    expect(texts.filter(text => /[*\\?]/.test(text))).toEqual([]);
    expect(groups.map(({ dn }) => dn)).toContain(groupDn('unsung'));
  });

  it('generates user names that are not served and group names with a space', () => {
    const odd = (attribute: string, objectClass: string) =>
      entries
        .filter(entry => entry.isA(objectClass))
        .flatMap(entry => entry.texts(attribute))
        .filter(name => !NAME.test(name));
    expect(odd('uid', 'fasUser').sort()).toEqual(['-dash', 'plus+user']);
    expect(odd('cn', 'fasGroup')).toEqual(['design team']);
    expect(odd('cn', 'ipaUserGroup').sort()).toEqual([
      'design team',
      'trust admins',
    ]);
  });

  it('generates valid certificates, each for its owner', () => {
    const owners = people.filter(
      entry => entry.all('userCertificate;binary').length,
    );
    expect(owners.length).toBeGreaterThan(50);
    for (const owner of owners) {
      for (const der of owner.all('userCertificate;binary')) {
        const certificate = new X509Certificate(Buffer.from(der));
        expect(certificate.verify(AUTHORITY_PUBLIC_KEY)).toBe(true);
        expect(certificate.subject).toBe(
          `O=EXAMPLE.TEST\nCN=${owner.texts('uid')[0].replace(/[+]/g, '\\+')}`,
        );
      }
    }
  });

  it('generates every kind of user that the tests need', () => {
    expect(named(entries, personDn('alice')).texts('krbPrincipalName')).toEqual(
      ['alice@EXAMPLE.TEST', 'alice.liddell@EXAMPLE.TEST'],
    );
    expect(named(entries, personDn('bob')).texts('fasIsPrivate')).toEqual([
      'TRUE',
    ]);
    expect(named(entries, personDn('carol')).texts('nsAccountLock')).toEqual([
      'TRUE',
    ]);
    const [expiration] = named(entries, personDn('eve')).texts(
      'krbPrincipalExpiration',
    );
    expect(expiration).toBe('20200101000000Z');
    for (const outsider of ['admin', 'nofas']) {
      expect(named(entries, personDn(outsider)).isA('fasUser')).toBe(false);
    }
    const principals = entries.flatMap(entry =>
      entry.texts('krbPrincipalName'),
    );
    expect(principals).toContain('bot/builder.example.test@EXAMPLE.TEST');
    expect(principals).toContain('host/build1.example.test@EXAMPLE.TEST');
  });

  it('nests groups, also through one outside the Fedora Account System', () => {
    const copies = generate({ users: 50 });
    addMemberOf(copies);
    const groupsOf = (uid: string) =>
      named(copies, personDn(uid)).texts('memberOf');
    const [erin, mallory] = ['erin', 'mallory'].map(groupsOf);
    for (const name of ['rel-eng', 'provenpackager', 'packager']) {
      expect(erin).toContain(groupDn(name));
    }
    for (const name of ['sysadmin_main', 'infra-internal', 'infra']) {
      expect(mallory).toContain(groupDn(name));
    }
    expect(named(copies, groupDn('infra-internal')).isA('fasGroup')).toBe(
      false,
    );
  });

  it('links an agreement to a group with a member who has not signed', () => {
    const copies = generate({ users: 50 });
    addMemberOf(copies);
    const minimal = named(copies, personDn('minimal'));
    const agreement = copies.find(entry => entry.texts('cn')[0] === 'FPCA');
    expect(minimal.texts('memberOf')).toContain(agreement?.dn);
    expect(agreement?.texts('memberUser')).not.toContain(minimal.dn);
    const flags = copies.flatMap(entry => entry.texts('ipaEnabledFlag'));
    expect(new Set(flags)).toEqual(new Set(['TRUE', 'FALSE']));
  });

  it('omits the Fedora Account System for the freeipa schema', () => {
    const text = generate({ users: 50, schema: 'freeipa' })
      .map(formatLdif)
      .join('');
    expect(text).not.toMatch(/^fas|: fas(user|group|agreement)$/im);
    expect(text).toContain('objectClass: posixaccount');
  });
});
