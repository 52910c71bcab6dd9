import { eventually } from './__testUtils__/eventually';
import { withGateway } from './__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

const site = withGateway({
  configure: () => ({
    directory: {
      portalUsers: { namespace: 'default', username: 'entityName' },
    },
  }),
});

const paths = ['/v1/', '/v1/me/', '/v1/users/', '/v1/users/alice/', '/v1/x/'];

describe('without credentials', () => {
  it.each(paths)('nothing is answered: %s', async path => {
    const answer = await site.client.ask(path);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Negotiate');
    expect(answer.json).toEqual({
      message: 'Unauthorized. You need to be logged in.',
      reason: 'no_credentials',
      request_id: expect.any(String),
    });
  });

  it.each(['POST', 'OPTIONS', 'HEAD', 'DELETE'])('nor to %s', async method => {
    const answer = await site.client.ask('/v1/me/', { method });
    expect(answer.status).toBe(401);
  });
});

describe('with credentials that are no good', () => {
  it.each([
    ['no scheme at all', '', 'no_credentials'],
    ['Basic', 'Basic YWxpY2U6cGFzc3dvcmQ=', 'no_credentials'],
    ['a bad Bearer token', 'Bearer nope', 'no_credentials'],
    ['an empty Bearer token', 'Bearer', 'no_credentials'],
    ['NTLM', 'NTLM TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAA==', 'ntlm_refused'],
    [
      'NTLM within Negotiate',
      'Negotiate TlRMTVNTUAABAAAAB4IIogAAAAAAAAAAAAAAAA==',
      'ntlm_refused',
    ],
    ['no token', 'Negotiate', 'malformed_token'],
    ['no base64', 'Negotiate !!!', 'malformed_token'],
    ['garbage', 'Negotiate AAAA', 'malformed_token'],
    [
      '48 KB of garbage',
      `Negotiate ${'A'.repeat(48 * 1024)}`,
      'malformed_token',
    ],
    [
      'more than 64 KiB',
      `Negotiate ${'A'.repeat(90 * 1024)}`,
      'token_too_large',
    ],
  ])('%s', async (_what, authorization, reason) => {
    const answer = await site.client.ask('/v1/me/', {
      headers: { Authorization: authorization },
    });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ reason });
    expect(answer.headers.get('www-authenticate')).toBe(
      reason === 'no_credentials' ? 'Negotiate' : null,
    );
    expect(site.gateway.alive()).toBe(true);
  });

  it('two Authorization headers', async () => {
    const answer = await site.client.ask('/v1/me/', {
      headers: { Authorization: ['Negotiate AAAA', 'Bearer x'] },
    });
    expect(answer.json).toMatchObject({ reason: 'malformed_token' });
  });
});

describe('with a ticket', () => {
  it('proves who answers, on refusals too', async () => {
    for (const path of ['/v1/me/', '/v1/users/nobody/', '/v1/nope/']) {
      const answer = await site.client.ask(path, { as: 'alice' });
      expect(answer.headers.get('www-authenticate')).toMatch(
        /^Negotiate [A-Za-z0-9+/]+=*$/,
      );
    }
  });

  it.each([
    ['carol', 'account_locked'],
    ['eve', 'account_expired'],
    ['ghost', 'unknown_principal'],
  ])('of %s, nothing is answered', async (principal, reason) => {
    const answer = await site.client.ask('/v1/me/', { as: principal });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ reason });
  });

  it('a lock takes effect', async () => {
    const lock = (value: string) =>
      site.realm.modify(
        `dn: uid=locksoon,cn=users,cn=accounts,${site.realm.baseDn}
changetype: modify
replace: nsAccountLock
nsAccountLock: ${value}
`.replace('locksoon', 'alice'),
      );
    expect((await site.client.ask('/v1/me/', { as: 'alice' })).status).toBe(
      200,
    );
    await lock('TRUE');
    await eventually(async () => {
      const { status } = await site.client.ask('/v1/me/', { as: 'alice' });
      expect(status).toBe(401);
    });
    await lock('FALSE');
  });
});
