import { EMPTY_PROFILE, type FasProfile, type Person } from './Person';
import { sshKey } from './userCertificate';
import { userCertificate } from './userCertificate';

type Sketch = Partial<Omit<Person, 'fas'>> &
  Pick<Person, 'uid' | 'givenName' | 'surname'> & {
    /** `false`: an account outside the Fedora Account System. */
    fas?: Partial<FasProfile> | false;
  };

/** Users in tests; alice is an ordinary one. */
const NAMED: readonly Sketch[] = [
  {
    uid: 'alice',
    givenName: 'Alice',
    surname: 'Liddell',
    mails: ['alice@example.test', 'alice.liddell@example.com'],
    aliases: ['alice.liddell'],
    created: new Date('2007-01-02T03:04:05Z'),
    sshKeys: [key('alice 1', 'alice@laptop'), key('alice 2', 'alice@desk')],
    certificates: [certificate('alice', 12n)],
    locked: false,
    fas: {
      timezone: 'Europe/Paris',
      locale: 'fr-FR',
      nicks: ['irc:/alice', 'irc://irc.libera.chat/al1ce', 'matrix:/alice'],
      gpgKeyIds: ['0123456789ABCDEF', 'DEADBEEF'.repeat(5)],
      rhbzEmail: 'alice@bugs.example.org',
      github: 'alice-gh',
      gitlab: 'alice_gl',
      websites: ['https://alice.example.org/'],
      rssUrls: [
        'https://alice.example.org/a.xml',
        'https://alice.example.org/b.xml',
      ],
      pronouns: ['she/her', 'they/them'],
      isPrivate: false,
    },
  },
  {
    uid: 'bob',
    givenName: 'Bob',
    surname: 'Private',
    created: new Date('2010-01-01T00:00:00Z'),
    sshKeys: [key('bob', 'bob@laptop')],
    certificates: [certificate('bob', 13n)],
    fas: {
      timezone: 'UTC',
      locale: 'en-US',
      nicks: ['irc:/bob', 'matrix://matrix.example.org/bob'],
      gpgKeyIds: ['FEDCBA9876543210'],
      rhbzEmail: 'bob@bugs.example.org',
      github: 'bob-gh',
      gitlab: 'bob_gl',
      websites: ['https://bob.example.org/'],
      rssUrls: ['https://bob.example.org/feed'],
      pronouns: ['he/him'],
      isPrivate: true,
    },
  },
  {
    uid: 'carol',
    givenName: 'Carol',
    surname: 'Locked',
    created: new Date('2013-05-23T23:31:10Z'),
    locked: true,
    sshKeys: [key('carol', 'carol@laptop')],
    fas: { locale: 'fr-FR', github: 'carol', isPrivate: false },
  },
  {
    uid: 'dave',
    givenName: 'Dave',
    surname: 'Certs',
    locked: false,
    certificates: [
      certificate('dave', 14n),
      certificate('dave', (1n << 126n) + 15n),
    ],
    fas: { websites: ['http://example.com/~dave/?q=a&b=(c)'] },
  },
  {
    uid: 'eve',
    givenName: 'Eve',
    surname: 'Expired',
    expires: new Date('2020-01-01T00:00:00Z'),
    fas: { locale: 'en-GB' },
  },
];

/** Values and names that careless parsing mishandles. */
const TRAPS: readonly Sketch[] = [
  {
    uid: 'special',
    givenName: 'Rick (aka)',
    surname: "O'Neil\\Back*Star",
    displayName: 'Rick (aka "R*") \\ O\'Neil, Jr. #1; <x>=+y',
    mails: ['special+tag(1)@example.test'],
    fas: {
      nicks: ['irc:/rick*(1)'],
      websites: ['https://example.test/a(b)*c\\d'],
      pronouns: [
        '#hash',
        'trailing blank ',
        ' leading blank',
        ':colon',
        '<angle',
      ],
    },
  },
  {
    uid: 'erin',
    givenName: 'Erin',
    surname: 'Ünïcode',
    displayName: 'Erin Ünïcödé 太郎 🦊',
    fas: { pronouns: ['ella / elle'] },
  },
  { uid: 'minimal', givenName: 'Minimal', surname: 'Person', mails: [] },
  { uid: 'x', givenName: 'X', surname: 'Y' },
  { uid: 'john.doe', givenName: 'John', surname: 'Doe' },
  { uid: 'mary-jane_w', givenName: 'Mary Jane', surname: "D'Angelo-Wójcik" },
  { uid: 'CamelCase', givenName: 'Camel', surname: 'Case' },
  { uid: '_underscore', givenName: 'Under', surname: 'Score' },
  { uid: 'build.box$', givenName: 'Build', surname: 'Box' },
  { uid: '1digit', givenName: 'One', surname: 'Digit' },
  // LDAP allows these two names; the gateway's pattern does not.
  { uid: 'plus+user', givenName: 'Plus', surname: 'User' },
  { uid: '-dash', givenName: 'Leading', surname: 'Dash' },
  {
    uid: 'mallory',
    givenName: 'Mallory',
    surname: 'Both',
    locked: true,
    fas: { isPrivate: true, github: 'mallory-gh' },
  },
];

/** Accounts that are not FAS users. */
const OUTSIDE: readonly Sketch[] = [
  {
    uid: 'admin',
    givenName: 'Admin',
    surname: 'Administrator',
    mails: [],
    fas: false,
  },
  {
    uid: 'nofas',
    givenName: 'No',
    surname: 'Fas',
    sshKeys: [key('nofas', 'nofas@laptop')],
    fas: false,
  },
];

/** Returns the users with fixed names, many of them with unusual values. */
export function knownPeople(): Person[] {
  return [...NAMED, ...TRAPS, ...OUTSIDE].map(complete);
}

function complete({ fas, ...sketch }: Sketch): Person {
  return {
    displayName: `${sketch.givenName} ${sketch.surname}`,
    mails: [`${sketch.uid}@example.test`],
    sshKeys: [],
    certificates: [],
    aliases: [],
    created: new Date('2015-06-07T08:09:10Z'),
    ...sketch,
    ...(fas !== false && { fas: { ...EMPTY_PROFILE, ...fas } }),
  };
}

function key(seed: string, comment: string): string {
  return sshKey(Buffer.alloc(32, seed), comment);
}

function certificate(uid: string, serial: bigint): Buffer {
  return userCertificate({
    commonName: uid,
    serial,
    notBefore: new Date('2024-01-01T00:00:00Z'),
    notAfter: new Date('2054-01-01T00:00:00Z'),
    seed: Buffer.alloc(32, `${uid} ${serial}`),
  });
}
