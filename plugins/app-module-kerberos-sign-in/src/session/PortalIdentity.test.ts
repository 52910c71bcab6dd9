import { type PortalSession, SignInError } from './fetchSession';
import { PortalIdentity, renewSession } from './PortalIdentity';

function sessionOf(token: string, expiresInSeconds?: number): PortalSession {
  return {
    profile: { displayName: 'alice' },
    backstageIdentity: {
      token,
      expiresInSeconds,
      identity: {
        type: 'user',
        userEntityRef: 'user:default/alice',
        ownershipEntityRefs: ['user:default/alice'],
      },
    },
  };
}

describe('PortalIdentity', () => {
  let now: number;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });

  const onRefused = jest.fn();

  afterEach(() => {
    jest.restoreAllMocks();
    onRefused.mockReset();
  });

  function start(fetchSession: jest.Mock, expiresInSeconds?: number) {
    return new PortalIdentity({
      session: sessionOf('first', expiresInSeconds),
      fetchSession,
      onSignOut: () => {},
      onRefused,
    });
  }

  it('renews shortly before expiry, once for all concurrent calls', async () => {
    const fetchSession = jest.fn(async () => sessionOf('second', 3600));
    const identity = start(fetchSession, 3600);

    now += 54 * 60_000;
    expect(await identity.getCredentials()).toEqual({ token: 'first' });
    expect(fetchSession).not.toHaveBeenCalled();

    now += 2 * 60_000;
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => identity.getCredentials()),
    );
    expect(new Set(tokens.map(({ token }) => token))).toEqual(
      new Set(['second']),
    );
    expect(fetchSession).toHaveBeenCalledTimes(1);

    now += 54 * 60_000;
    await identity.getCredentials();
    expect(fetchSession).toHaveBeenCalledTimes(1);
  });

  it('uses a short session for most of its lifetime', async () => {
    const fetchSession = jest.fn(async () => sessionOf('second', 60));
    const identity = start(fetchSession, 60);

    now += 47_000;
    expect(await identity.getCredentials()).toEqual({ token: 'first' });
    now += 2_000;
    expect(await identity.getCredentials()).toEqual({ token: 'second' });
  });

  it('renews a token of 10 minutes every 8 minutes', async () => {
    const fetchSession = jest.fn(async () => sessionOf('next', 600));
    const identity = start(fetchSession, 600);

    for (let second = 0; second < 3600; second++) {
      now += 1000;
      await identity.getCredentials();
    }
    expect(fetchSession).toHaveBeenCalledTimes(7);
  });

  it('renews after the computer was suspended', async () => {
    const fetchSession = jest.fn(async () => sessionOf('second', 3600));
    const identity = start(fetchSession, 3600);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * 3_600_000);
    expect(await identity.getCredentials()).toEqual({ token: 'second' });
  });

  it('pauses after a renewal that failed', async () => {
    const fetchSession = jest.fn().mockRejectedValue(new Error('no ticket'));
    const identity = start(fetchSession, 3600);
    now += 56 * 60_000;
    await identity.getCredentials();
    await identity.getCredentials();
    expect(fetchSession).toHaveBeenCalledTimes(1);
    now += 30_000;
    await identity.getCredentials();
    expect(fetchSession).toHaveBeenCalledTimes(2);
  });

  it('uses a valid token when the renewal fails, and fails after it expires', async () => {
    const fetchSession = jest.fn(async () => {
      throw new Error('no ticket');
    });
    const identity = start(fetchSession, 3600);

    now += 56 * 60_000;
    expect(await identity.getCredentials()).toEqual({ token: 'first' });
    expect(fetchSession).toHaveBeenCalledTimes(1);

    now += 5 * 60_000;
    await expect(identity.getCredentials()).rejects.toThrow('no ticket');
    await expect(identity.getCredentials()).rejects.toThrow('no ticket');
    expect(fetchSession).toHaveBeenCalledTimes(3);

    fetchSession.mockImplementation(
      async () => sessionOf('later', 3600) as never,
    );
    expect(await identity.getCredentials()).toEqual({ token: 'later' });
  });

  it.each(['account_locked', 'account_expired', 'unknown_principal'])(
    'ends immediately when the renewal is refused with %s',
    async reason => {
      const refusal = new SignInError({
        kind: 'refused',
        reason,
        message: 'Refused',
      });
      const fetchSession = jest.fn().mockRejectedValue(refusal);
      const identity = start(fetchSession, 3600);

      now += 56 * 60_000; // the token is valid for four more minutes
      await expect(identity.getCredentials()).rejects.toBe(refusal);
      await expect(identity.getCredentials()).rejects.toBe(refusal);
      expect(fetchSession).toHaveBeenCalledTimes(1);
      expect(onRefused.mock.calls).toEqual([[reason]]);
    },
  );

  it.each([
    { kind: 'unavailable' } as const,
    { kind: 'unreachable' } as const,
    { kind: 'refused', reason: 'no_credentials', message: '' } as const,
  ])('uses a valid token when the renewal fails with %j', async failure => {
    const fetchSession = jest.fn().mockRejectedValue(new SignInError(failure));
    const identity = start(fetchSession, 3600);

    now += 56 * 60_000;
    expect(await identity.getCredentials()).toEqual({ token: 'first' });
    expect(onRefused).not.toHaveBeenCalled();
  });

  it('assumes a lifetime of five minutes by default', async () => {
    const fetchSession = jest.fn(async () => sessionOf('second'));
    const identity = start(fetchSession);

    now += 3 * 60_000;
    expect(await identity.getCredentials()).toEqual({ token: 'first' });
    now += 2 * 60_000;
    expect(await identity.getCredentials()).toEqual({ token: 'second' });
  });
});

describe('renewSession', () => {
  let now: number;

  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });

  afterEach(() => jest.restoreAllMocks());

  const DIRECTORY = 'plugin://directory/v1/certs/1/revocation/';
  const TOO_OLD = { reason: 'recent_sign_in_required' };

  /** Sends a request to a server that accepts only the token `second`. */
  async function send(options: {
    age: number;
    url?: string;
    status?: number;
    body?: object;
    renewal?: () => Promise<PortalSession>;
  }) {
    const { url = DIRECTORY, status = 401, body = {} } = options;
    const fetchSession = jest.fn(
      options.renewal ?? (async () => sessionOf('second', 3600)),
    );
    const identity = new PortalIdentity({
      session: sessionOf('first', 3600),
      fetchSession,
      onSignOut: () => {},
      onRefused: () => {},
    });
    const requests: [string | undefined, unknown][] = [];
    const next = async (_: unknown, init?: RequestInit) => {
      const { token } = await identity.getCredentials();
      requests.push([token, init?.body]);
      return respond(token === 'second' ? 200 : status, body);
    };
    now += options.age;
    const response = await renewSession({ identity }).apply(next)(url, {
      body: 'reason',
    });
    return { status: response.status, requests, fetchSession };
  }

  /** jsdom has no `Response`. */
  function respond(status: number, body: object): Response {
    const response = { status, clone: () => response, json: async () => body };
    return response as Response;
  }

  it.each([
    [401, {}],
    [403, TOO_OLD],
  ])('repeats a request with a new token after %i', async (status, body) => {
    expect(await send({ age: 6 * 60_000, status, body })).toMatchObject({
      status: 200,
      requests: [
        ['first', 'reason'],
        ['second', 'reason'],
      ],
    });
  });

  it.each([
    ['another refusal', { status: 403 }],
    ['another plugin', { url: 'plugin://proxy/upstream' }],
    ['another origin', { url: 'https://example.test/' }],
  ])('returns the response for %s', async (_, options) => {
    const { requests, fetchSession } = await send({
      age: 6 * 60_000,
      ...options,
    });
    expect(requests).toHaveLength(1);
    expect(fetchSession).not.toHaveBeenCalled();
  });

  it('does not repeat a request as another user', async () => {
    const renewal = async () => {
      const session = sessionOf('second', 3600);
      session.backstageIdentity.identity.userEntityRef = 'user:default/bob';
      return session;
    };
    const { status, requests } = await send({ age: 6 * 60_000, renewal });
    expect(status).toBe(401);
    expect(requests).toHaveLength(1);
  });

  it('repeats a request whose refusal arrives after the renewal', async () => {
    const fetchSession = jest.fn(async () => sessionOf('second', 3600));
    const identity = new PortalIdentity({
      session: sessionOf('first', 3600),
      fetchSession,
      onSignOut: () => {},
      onRefused: () => {},
    });
    const responds: (() => void)[] = [];
    const fetch = renewSession({ identity }).apply(async () => {
      const { token } = await identity.getCredentials();
      if (token === 'first') {
        await new Promise<void>(resolve => {
          responds.push(resolve);
        });
      }
      return respond(token === 'second' ? 200 : 401, {});
    });
    now += 6 * 60_000;
    const responses = [fetch(DIRECTORY), fetch(DIRECTORY)];
    await Promise.resolve(); // the first token is read
    await identity.getCredentials(); // both requests have the first token
    responds[0]();
    expect((await responses[0]).status).toBe(200);
    responds[1]();
    expect((await responses[1]).status).toBe(200);
    expect(fetchSession).toHaveBeenCalledTimes(1);
  });

  it('returns the response when the token is new', async () => {
    const { status, fetchSession } = await send({ age: 1000 });
    expect(status).toBe(401);
    expect(fetchSession).not.toHaveBeenCalled();
  });

  it('returns the response when the session cannot be renewed', async () => {
    const renewal = () => Promise.reject(new Error('no ticket'));
    const { status, requests } = await send({ age: 6 * 60_000, renewal });
    expect(status).toBe(401);
    expect(requests).toHaveLength(1);
  });

  it('returns other responses', async () => {
    const { status, requests } = await send({ age: 6 * 60_000, status: 404 });
    expect(status).toBe(404);
    expect(requests).toHaveLength(1);
  });
});
