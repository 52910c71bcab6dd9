import type { Entity } from '@backstage/catalog-model';
import { entityNameOf } from '@directory-gateway/backstage-plugin-directory-common';
import {
  startPortal,
  TRUSTED_LOCATION,
  type DirectoryAccount,
  type TestPortalOptions,
  type TestPortal,
} from './__testUtils__/startPortal';

const CHALLENGE = 'WWW-Authenticate';

/** Location of entities that a user has registered. */
const REGISTERED_LOCATION = 'url:https://git.test/mallory/users.yaml';

function user(options: {
  name: string;
  namespace?: string;
  principal?: string;
  location?: string;
  groups?: readonly string[];
}): Entity {
  const { name, namespace = 'default', principal, groups = ['team'] } = options;
  const { location = TRUSTED_LOCATION } = options;
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: {
      name,
      namespace,
      annotations: {
        'backstage.io/managed-by-location': location,
        'backstage.io/managed-by-origin-location': location,
        ...(principal && {
          'directory-gateway/kerberos-principal': principal,
        }),
      },
    },
    spec: { memberOf: ['team'] },
    relations: groups.map(groupName => ({
      type: 'memberOf',
      targetRef: `group:default/${groupName}`,
    })),
  };
}

function group(name: string, location = TRUSTED_LOCATION): Entity {
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'Group',
    metadata: {
      name,
      namespace: 'default',
      annotations: {
        'backstage.io/managed-by-location': location,
        'backstage.io/managed-by-origin-location': location,
      },
    },
    spec: { type: 'team', children: [] },
  };
}

describe('authModuleKerberosProvider', () => {
  let portal: TestPortal | undefined;

  async function start(options: TestPortalOptions): Promise<TestPortal> {
    portal = await startPortal(options);
    return portal;
  }

  afterEach(async () => {
    await portal?.stop();
    portal = undefined;
  });

  /**
   * Returns the entity reference of the signed-in user or the reason for a
   * refusal.
   */
  async function signIn(principal: string) {
    const response = await portal!.refresh(principal);
    const body = await response.json();
    return body.reason ?? body.backstageIdentity.identity.userEntityRef;
  }

  describe('without a valid ticket', () => {
    const options: TestPortalOptions = {
      resolvers: [{ resolver: 'directoryUser' }],
      accounts: { 'alice@EXAMPLE.TEST': { username: 'alice' } },
    };

    it('sends a challenge and a reason when there is no token', async () => {
      const response = await (await start(options)).refresh();

      expect(response.status).toBe(401);
      expect(response.headers.get(CHALLENGE)).toBe('Negotiate');
      expect(response.headers.get('Cache-Control')).toBe('no-store');
      expect(await response.json()).toEqual({
        reason: 'no_credentials',
        message: 'No ticket.',
      });
    });

    it('does not send a challenge after a refused token, so that browsers do not loop', async () => {
      const response = await (await start(options)).refresh('skewed');

      expect(response.status).toBe(401);
      expect(response.headers.get(CHALLENGE)).toBeNull();
      expect((await response.json()).reason).toBe('clock_skew');
    });

    it('returns 503 when tickets cannot be verified', async () => {
      const response = await (await start(options)).refresh('no-keytab');

      expect(response.status).toBe(503);
      expect(response.headers.get('Retry-After')).toBe('5');
      expect(await response.json()).toEqual({
        reason: 'unavailable',
        message: 'Unavailable.',
      });
    });

    it('accepts only scripts of the portal', async () => {
      const { refresh } = await start(options);
      const ticket = 'alice@EXAMPLE.TEST';

      const script = { 'X-Requested-With': 'XMLHttpRequest' };
      const own = { Origin: 'http://localhost:3000', ...script };
      for (const headers of [
        { Origin: 'https://evil.test', ...script },
        // An image or a form of another page.
        {},
      ]) {
        const foreign = await refresh(ticket, headers);
        expect(foreign.status).toBe(403);
        expect(foreign.headers.get(CHALLENGE)).toBeNull();
      }
      expect((await refresh(ticket, own)).status).toBe(200);
    });
  });

  it('signs in with mutual authentication', async () => {
    const { refresh, logged } = await start({
      resolvers: [{ resolver: 'directoryUser' }],
      accounts: { 'alice@EXAMPLE.TEST': { username: 'alice' } },
      users: [user({ name: 'alice' })],
    });

    const response = await refresh('alice@EXAMPLE.TEST');

    expect(response.status).toBe(200);
    expect(response.headers.get(CHALLENGE)).toBe('Negotiate cmVwbHk=');
    expect(await response.json()).toEqual({
      providerInfo: {},
      profile: { displayName: 'alice' },
      backstageIdentity: {
        token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        expiresInSeconds: expect.any(Number),
        identity: {
          type: 'user',
          userEntityRef: 'user:default/alice',
          ownershipEntityRefs: expect.any(Array),
        },
      },
    });
    expect(logged()).not.toContain('alice@EXAMPLE.TEST');
    expect(logged()).not.toContain('cmVwbHk=');
  });

  it('signs in users with an active account in the directory', async () => {
    await start({
      resolvers: [{ resolver: 'directoryUser', namespace: 'people' }],
      accounts: {
        'bob@EXAMPLE.TEST': { username: 'Bob' },
        'carol@EXAMPLE.TEST': { username: 'carol', locked: true },
        'eve@EXAMPLE.TEST': { username: 'eve', expired: true },
        'bobby@EXAMPLE.TEST': { username: 'bob' },
      },
    });

    expect(await signIn('bob@EXAMPLE.TEST')).toBe('user:people/bob');
    expect(await signIn('bob@OTHER.TEST')).toBe('unknown_principal');
    expect(await signIn('carol@EXAMPLE.TEST')).toBe('account_locked');
    expect(await signIn('eve@EXAMPLE.TEST')).toBe('account_expired');
    // An alias, such as the principal before a rename.
    expect(await signIn('bobby@EXAMPLE.TEST')).toBe('user:people/bob');
    expect(await signIn('ghost@EXAMPLE.TEST')).toBe('unknown_principal');
  });

  it('returns 503 while the directory is unavailable', async () => {
    await start({ resolvers: [{ resolver: 'directoryUser' }] });

    expect(await signIn('bob@EXAMPLE.TEST')).toBe('unavailable');
  });

  it('signs in the trusted catalog user with the annotation unless two have it', async () => {
    const { logged } = await start({
      resolvers: [{ resolver: 'principalMatchingUserEntityAnnotation' }],
      users: [
        user({ name: 'alice.l', principal: 'alice@EXAMPLE.TEST' }),
        user({ name: 'bob', principal: 'shared@EXAMPLE.TEST' }),
        user({ name: 'eve', principal: 'shared@EXAMPLE.TEST' }),
        user({ name: 'carol' }),
        user({ name: 'ghost', principal: 'ghost@EXAMPLE.TEST' }),
      ],
      accounts: {
        'alice@EXAMPLE.TEST': { username: 'alice' },
        'Alice@EXAMPLE.TEST': { username: 'alice' },
        'alice@OTHER.TEST': { username: 'alice' },
        'carol@EXAMPLE.TEST': { username: 'carol' },
        'shared@EXAMPLE.TEST': { username: 'shared' },
      },
    });

    expect(await signIn('alice@EXAMPLE.TEST')).toBe('user:default/alice.l');
    expect(await signIn('Alice@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await signIn('alice@OTHER.TEST')).toBe('unknown_principal');
    expect(await signIn('carol@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await signIn('ghost@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await signIn('shared@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(logged()).toContain('annotated with the same Kerberos principal');
  });

  it('refuses annotated users from untrusted locations', async () => {
    const { logged } = await start({
      resolvers: [{ resolver: 'principalMatchingUserEntityAnnotation' }],
      users: [
        user({ name: 'alice', principal: 'alice@EXAMPLE.TEST' }),
        ...['alice', 'bob'].map(name =>
          user({
            name: `boss-${name}`,
            principal: `${name}@EXAMPLE.TEST`,
            location: REGISTERED_LOCATION,
          }),
        ),
      ],
      accounts: {
        'alice@EXAMPLE.TEST': { username: 'alice' },
        'bob@EXAMPLE.TEST': { username: 'bob' },
      },
    });

    expect(await signIn('bob@EXAMPLE.TEST')).toBe('unknown_principal');
    // An entity from another location does not lock out the trusted user.
    expect(await signIn('alice@EXAMPLE.TEST')).toBe('user:default/alice');
    expect(logged()).toContain('directory.trustedLocations does not list');
  });

  it.each([
    'principalMatchingUserEntityAnnotation',
    'usernameMatchingUserEntityName',
    'directoryUser',
  ])(
    'issues tokens by %s only with the trusted groups of trusted users',
    async resolver => {
      const { refresh } = await start({
        resolvers: [{ resolver }, { resolver: 'directoryUser' }],
        users: [
          user({
            name: 'alice',
            principal: 'alice@EXAMPLE.TEST',
            groups: ['team', 'registered', 'not-in-the-catalog'],
          }),
          user({
            name: 'bob',
            principal: 'bob@EXAMPLE.TEST',
            location: REGISTERED_LOCATION,
          }),
          group('team'),
          group('registered', REGISTERED_LOCATION),
        ],
        accounts: {
          'alice@EXAMPLE.TEST': { username: 'alice' },
          'bob@EXAMPLE.TEST': { username: 'bob' },
        },
      });
      const claimsOf = async (principal: string) =>
        (await (await refresh(principal)).json()).backstageIdentity.identity
          .ownershipEntityRefs;

      expect(await claimsOf('alice@EXAMPLE.TEST')).toEqual([
        'user:default/alice',
        'group:default/team',
      ]);
      expect(await claimsOf('bob@EXAMPLE.TEST')).toEqual(['user:default/bob']);
    },
  );

  describe('directory groups', () => {
    const claimsOf = async (principal: string) =>
      (await (await portal!.refresh(principal)).json()).backstageIdentity
        .identity.ownershipEntityRefs;

    const alice = (groups: DirectoryAccount['groups']) => ({
      'alice@EXAMPLE.TEST': { username: 'alice', groups },
    });

    it.each([
      'principalMatchingUserEntityAnnotation',
      'usernameMatchingUserEntityName',
      'directoryUser',
    ])(
      'are claims of tokens by %s, in addition to catalog groups',
      async resolver => {
        await start({
          resolvers: [{ resolver }],
          users: [
            user({
              name: 'alice',
              principal: 'alice@EXAMPLE.TEST',
              groups: ['staff', 'team'],
            }),
            group('team'),
          ],
          accounts: alice({
            all: ['staff', 'all'],
            'trust admins': ['trust admins'],
            staff: ['staff'],
            ipausers: ['ipausers'],
          }),
        });

        expect(await claimsOf('alice@EXAMPLE.TEST')).toEqual([
          'user:default/alice',
          'group:default/staff',
          `group:default/${entityNameOf('trust admins')}`,
          'group:default/all',
          'group:default/team',
        ]);
      },
    );

    it('end with the membership, even if the catalog still has it', async () => {
      const DIRECTORY = 'directory:default';
      await start({
        resolvers: [{ resolver: 'directoryUser' }],
        trustedLocations: [DIRECTORY],
        users: [
          user({
            name: 'alice',
            principal: 'alice@EXAMPLE.TEST',
            groups: ['staff', 'former'],
            location: DIRECTORY,
          }),
          group('staff', DIRECTORY),
          group('former', DIRECTORY),
        ],
        accounts: alice({ staff: ['staff'] }),
      });

      expect(await claimsOf('alice@EXAMPLE.TEST')).toEqual([
        'user:default/alice',
        'group:default/staff',
      ]);
    });

    it('are claims of users who are not in the catalog, in the namespace of the user', async () => {
      await start({
        resolvers: [{ resolver: 'directoryUser', namespace: 'people' }],
        accounts: alice({ staff: ['staff'] }),
      });

      expect(await claimsOf('alice@EXAMPLE.TEST')).toEqual([
        'user:people/alice',
        'group:people/staff',
      ]);
    });

    it('are limited to the nearest ones, with a warning', async () => {
      const names = Array.from({ length: 2500 }, (_, index) => `g${index}`);
      const { logged } = await start({
        resolvers: [{ resolver: 'directoryUser' }],
        accounts: alice({
          ...Object.fromEntries(names.map(name => [name, ['staff', name]])),
          staff: ['staff'],
        }),
      });

      const claims = await claimsOf('alice@EXAMPLE.TEST');
      expect(claims.slice(0, 3)).toEqual([
        'user:default/alice',
        'group:default/staff',
        'group:default/g0',
      ]);
      expect(claims).toHaveLength(201);
      expect(logged()).toContain('alice is in 2501 groups');
    });

    it('are read again at each renewal', async () => {
      const groups: Record<string, string[]> = { staff: ['staff'] };
      await start({
        resolvers: [{ resolver: 'directoryUser' }],
        accounts: alice(groups),
      });
      expect(await claimsOf('alice@EXAMPLE.TEST')).toContain(
        'group:default/staff',
      );
      delete groups.staff;
      expect(await claimsOf('alice@EXAMPLE.TEST')).toEqual([
        'user:default/alice',
      ]);
    });

    it('must be available at sign-in', async () => {
      await start({
        resolvers: [{ resolver: 'directoryUser' }],
        accounts: alice({ unavailable: [] }),
      });

      expect(await signIn('alice@EXAMPLE.TEST')).toBe('unavailable');
    });
  });

  it('signs in by the name of the account that belongs to the principal', async () => {
    await start({
      resolvers: [
        { resolver: 'usernameMatchingUserEntityName' },
        {
          resolver: 'directoryUser',
          realms: ['PARTNER.TEST'],
          namespace: 'partner',
        },
      ],
      realm: 'EXAMPLE.TEST',
      realms: ['EXAMPLE.TEST', 'PARTNER.TEST', 'THIRD.TEST'],
      users: [
        user({ name: 'alice' }),
        user({ name: 'dave', location: REGISTERED_LOCATION }),
      ],
      accounts: {
        'alice@EXAMPLE.TEST': { username: 'alice' },
        'bob@EXAMPLE.TEST': { username: 'bob' },
        'carol@PARTNER.TEST': { username: 'carol' },
        'dave@EXAMPLE.TEST': { username: 'dave' },
        'eve@PARTNER.TEST': { username: 'palice' },
        'alice@THIRD.TEST': { username: 'alice' },
      },
    });

    expect(await signIn('alice@EXAMPLE.TEST')).toBe('user:default/alice');
    expect(await signIn('bob@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await signIn('dave@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await signIn('carol@PARTNER.TEST')).toBe('user:partner/carol');
    // The account of that name belongs to alice@EXAMPLE.TEST.
    expect(await signIn('alice@PARTNER.TEST')).toBe('unknown_principal');
    expect(await signIn('eve@PARTNER.TEST')).toBe('user:partner/palice');
    expect(await signIn('alice@THIRD.TEST')).toBe('unknown_principal');
  });

  describe.each([
    { resolver: 'principalMatchingUserEntityAnnotation' },
    { resolver: 'usernameMatchingUserEntityName' },
    { resolver: 'directoryUser' },
  ])('the account check of %j', resolver => {
    it.each([
      ['is locked', { username: 'alice', locked: true }, 'account_locked'],
      ['has expired', { username: 'alice', expired: true }, 'account_expired'],
      ['was deleted', undefined, 'unknown_principal'],
    ])(
      'refuses a renewal when the account %s',
      async (_what, after, reason) => {
        const principal = 'alice@EXAMPLE.TEST';
        const accounts: Record<string, DirectoryAccount> = {
          [principal]: { username: 'alice' },
        };
        await start({
          resolvers: [resolver],
          users: [user({ name: 'alice', principal })],
          accounts,
        });
        expect(await signIn(principal)).toBe('user:default/alice');

        delete accounts[principal];
        Object.assign(accounts, after && { [principal]: after });
        expect(await signIn(principal)).toBe(reason);
      },
    );

    it('returns 503 while the directory is unavailable', async () => {
      const principal = 'alice@EXAMPLE.TEST';
      const { refresh } = await start({
        resolvers: [resolver],
        users: [user({ name: 'alice', principal })],
      });
      const response = await refresh(principal);
      expect(response.status).toBe(503);
      expect((await response.json()).reason).toBe('unavailable');
    });
  });

  it('refuses services and names that are not valid entity names', async () => {
    const unusable = ['plus+user', '-dash', 'a'.repeat(64), 'a\\@b', 'pc$'];
    await start({
      // The directory does not serve the first one.
      accounts: Object.fromEntries(
        unusable
          .slice(1)
          .map(username => [`${username}@EXAMPLE.TEST`, { username }]),
      ),
      resolvers: [{ resolver: 'directoryUser' }],
      users: [user({ name: 'http', principal: 'HTTP/localhost@EXAMPLE.TEST' })],
    });

    for (const name of ['HTTP/localhost', 'bot/builder', 'alice/admin']) {
      expect(await signIn(`${name}@EXAMPLE.TEST`)).toBe('service_principal');
    }
    for (const name of unusable) {
      expect(await signIn(`${name}@EXAMPLE.TEST`)).toBe('unusable_name');
    }
  });

  it.each<[string, TestPortalOptions, RegExp]>([
    ['no resolver', {}, /signIn\.resolvers must list one of/],
    ['an unknown resolver', { resolvers: [{ resolver: 'x' }] }, /'x'/],
    [
      'an unknown option',
      { resolvers: [{ resolver: 'directoryUser', realm: 'X' }] },
      /realm/,
    ],
    [
      'catalog users but no trusted locations',
      {
        resolvers: [{ resolver: 'usernameMatchingUserEntityName' }],
        trustedLocations: [],
      },
      /usernameMatchingUserEntityName .* directory\.trustedLocations/,
    ],
  ])('fails at startup with %s', async (_, given, cause) => {
    await expect(startPortal(given)).rejects.toMatchObject({
      message: expect.stringMatching(cause),
    });
  });

  it.each<[string, TestPortalOptions, RegExp]>([
    [
      'without trusted locations',
      { trustedLocations: [] },
      /auth\.providers\.kerberos\.signIn\.resolvers .* directory\.trustedLocations is not set/,
    ],
    [
      'while any user may register users',
      { catalogRules: [{ allow: ['Component', 'user'] }] },
      /auth\.providers\.kerberos\.signIn\.resolvers .* catalog\.rules\[0\] .*directory\.trustedLocations/,
    ],
  ])('fails at startup with annotations %s', async (_, given, cause) => {
    await expect(
      startPortal({
        ...given,
        resolvers: [{ resolver: 'principalMatchingUserEntityAnnotation' }],
      }),
    ).rejects.toMatchObject({ message: expect.stringMatching(cause) });
  });
});
