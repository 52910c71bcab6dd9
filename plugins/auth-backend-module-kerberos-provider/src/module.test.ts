import type { Entity } from '@backstage/catalog-model';
import {
  startPortal,
  type PortalSurroundings,
  type TestPortal,
} from './__testUtils__/startPortal';

const CHALLENGE = 'WWW-Authenticate';

function user(options: {
  name: string;
  namespace?: string;
  principal?: string;
}): Entity {
  const { name, namespace = 'default', principal } = options;
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: {
      name,
      namespace,
      ...(principal && {
        annotations: { 'directory-gateway/kerberos-principal': principal },
      }),
    },
    spec: { memberOf: ['team'] },
    relations: [{ type: 'memberOf', targetRef: 'group:default/team' }],
  };
}

describe('authModuleKerberosProvider', () => {
  let portal: TestPortal | undefined;

  async function start(surroundings: PortalSurroundings): Promise<TestPortal> {
    portal = await startPortal(surroundings);
    return portal;
  }

  afterEach(async () => {
    await portal?.stop();
    portal = undefined;
  });

  /** The user that a ticket becomes, or why it does not. */
  async function becomes(principal: string) {
    const response = await portal!.refresh(principal);
    const body = await response.json();
    return body.reason ?? body.backstageIdentity.identity.userEntityRef;
  }

  describe('before anybody is known', () => {
    const surroundings: PortalSurroundings = {
      resolvers: [{ resolver: 'directoryUser' }],
      accounts: { 'alice@EXAMPLE.TEST': { username: 'alice' } },
    };

    it('challenges who sends no token, with a reason', async () => {
      const response = await (await start(surroundings)).refresh();

      expect(response.status).toBe(401);
      expect(response.headers.get(CHALLENGE)).toBe('Negotiate');
      expect(response.headers.get('Cache-Control')).toBe('no-store');
      expect(await response.json()).toEqual({
        reason: 'no_credentials',
        message: 'No ticket.',
      });
    });

    it('does not challenge again after a refused token, lest browsers loop', async () => {
      const response = await (await start(surroundings)).refresh('skewed');

      expect(response.status).toBe(401);
      expect(response.headers.get(CHALLENGE)).toBeNull();
      expect((await response.json()).reason).toBe('clock_skew');
    });

    it('says when it cannot tell', async () => {
      const response = await (await start(surroundings)).refresh('keytab-away');

      expect(response.status).toBe(503);
      expect(response.headers.get('Retry-After')).toBe('5');
      expect(await response.json()).toEqual({
        reason: 'unavailable',
        message: 'Not now.',
      });
    });

    it('answers scripts of the portal only', async () => {
      const { refresh } = await start(surroundings);
      const ticket = 'alice@EXAMPLE.TEST';

      const foreign = await refresh(ticket, { Origin: 'https://evil.test' });
      expect(foreign.status).toBe(403);
      expect(foreign.headers.get(CHALLENGE)).toBeNull();
      const own = await refresh(ticket, { Origin: 'http://localhost:3000' });
      expect(own.status).toBe(200);
    });
  });

  it('signs in with the proof that it holds the key', async () => {
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

  it('signs in users who have a live account in the directory', async () => {
    await start({
      resolvers: [{ resolver: 'directoryUser', namespace: 'people' }],
      accounts: {
        'bob@EXAMPLE.TEST': { username: 'Bob' },
        'carol@EXAMPLE.TEST': { username: 'carol', locked: true },
        'eve@EXAMPLE.TEST': { username: 'eve', expired: true },
        'bobby@EXAMPLE.TEST': { username: 'bob' },
      },
    });

    expect(await becomes('bob@EXAMPLE.TEST')).toBe('user:people/bob');
    expect(await becomes('bob@OTHER.TEST')).toBe('unknown_principal');
    expect(await becomes('carol@EXAMPLE.TEST')).toBe('account_locked');
    expect(await becomes('eve@EXAMPLE.TEST')).toBe('account_expired');
    expect(await becomes('bobby@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await becomes('ghost@EXAMPLE.TEST')).toBe('unknown_principal');
  });

  it('signs in nobody while the directory is away', async () => {
    await start({ resolvers: [{ resolver: 'directoryUser' }] });

    expect(await becomes('bob@EXAMPLE.TEST')).toBe('unavailable');
  });

  it('takes the catalog at its annotations, and no two users for one', async () => {
    const { logged } = await start({
      resolvers: [{ resolver: 'principalMatchingUserEntityAnnotation' }],
      users: [
        user({ name: 'alice.l', principal: 'alice@EXAMPLE.TEST' }),
        user({ name: 'bob', principal: 'shared@EXAMPLE.TEST' }),
        user({ name: 'eve', principal: 'shared@EXAMPLE.TEST' }),
        user({ name: 'carol' }),
      ],
    });

    expect(await becomes('alice@EXAMPLE.TEST')).toBe('user:default/alice.l');
    expect(await becomes('alice@OTHER.TEST')).toBe('unknown_principal');
    expect(await becomes('carol@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await becomes('shared@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(logged()).toContain('annotated to more than one user');
  });

  it('takes names of the own realm for those of the catalog when told to', async () => {
    await start({
      resolvers: [
        { resolver: 'usernameMatchingUserEntityName' },
        {
          resolver: 'usernameMatchingUserEntityName',
          realms: ['PARTNER.TEST'],
          namespace: 'partner',
          dangerouslyAllowSignInWithoutUserInCatalog: true,
        },
      ],
      realms: ['PARTNER.TEST', 'THIRD.TEST'],
      users: [user({ name: 'alice' })],
    });

    expect(await becomes('alice@EXAMPLE.TEST')).toBe('user:default/alice');
    expect(await becomes('bob@EXAMPLE.TEST')).toBe('unknown_principal');
    expect(await becomes('alice@PARTNER.TEST')).toBe('user:partner/alice');
    expect(await becomes('alice@THIRD.TEST')).toBe('unknown_principal');
  });

  it('never takes a service for a person, nor changes a name', async () => {
    await start({
      resolvers: [
        {
          resolver: 'usernameMatchingUserEntityName',
          dangerouslyAllowSignInWithoutUserInCatalog: true,
        },
      ],
      users: [user({ name: 'http', principal: 'HTTP/localhost@EXAMPLE.TEST' })],
    });

    for (const name of ['HTTP/localhost', 'bot/builder', 'alice/admin']) {
      expect(await becomes(`${name}@EXAMPLE.TEST`)).toBe('service_principal');
    }
    for (const name of ['plus+user', '-dash', 'a'.repeat(64), 'a\\@b', 'pc$']) {
      expect(await becomes(`${name}@EXAMPLE.TEST`)).toBe('unusable_name');
    }
  });

  it.each([
    ['no resolver', {}, /signIn\.resolvers must list one of/],
    ['an unknown resolver', { resolvers: [{ resolver: 'x' }] }, /'x'/],
    [
      'an option of no meaning',
      { resolvers: [{ resolver: 'directoryUser', realm: 'X' }] },
      /realm/,
    ],
  ])('lives on with %s, and says what is wrong', async (_, given, wrong) => {
    const { refresh, logged } = await start(given as PortalSurroundings);

    const response = await refresh('alice@EXAMPLE.TEST');

    expect(response.status).toBe(503);
    expect((await response.json()).reason).toBe('misconfigured');
    expect(logged()).toMatch(wrong);
  });
});
