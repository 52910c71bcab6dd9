import {
  type ClientResponse,
  resultOf,
} from './__testUtils__/gateway/GatewayClient';
import { withGateway } from './__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

const site = withGateway();

const people = 'cn=users,cn=accounts,dc=example,dc=test';
const names = (response: ClientResponse) =>
  (response.json as { result: { username: string }[] }).result.map(
    ({ username }) => username,
  );

describe('GET /me/', () => {
  const uri = (name: string) =>
    `${site.gateway.baseUrl}/api/directory/v1/users/${name}/`;

  it('names the user who holds the ticket', async () => {
    const response = await site.client.request('/v1/me/', { as: 'alice' });
    expect(response.status).toBe(200);
    expect(response.json).toEqual({
      result: {
        dn: `uid=alice,${people}`,
        username: 'alice',
        service: null,
        uri: uri('alice'),
      },
    });
  });

  it('knows an alias of the principal', async () => {
    const response = await site.client.request('/v1/me/', {
      as: 'alice.liddell',
    });
    expect(resultOf(response)).toMatchObject({ username: 'alice' });
  });

  it('knows a user that the API does not serve', async () => {
    const response = await site.client.request('/v1/me/', { as: 'admin' });
    expect(resultOf(response)).toMatchObject({ username: 'admin', uri: null });
  });

  it.each(['bot/builder.example.test', 'host/build1.example.test'])(
    'knows %s',
    async service => {
      const response = await site.client.request('/v1/me/', { as: service });
      expect(resultOf(response)).toMatchObject({
        service,
        username: null,
        uri: null,
        dn: expect.stringContaining(',cn=accounts,dc=example,dc=test'),
      });
    },
  );

  it('honours a mask and its order', async () => {
    const response = await site.client.request('/v1/me/', {
      as: 'alice',
      headers: { 'X-Fields': '{uri,dn,nope}' },
    });
    expect(Object.keys(resultOf(response))).toEqual(['uri', 'dn']);
  });

  it('takes its URIs from the configuration, not from the request', async () => {
    const response = await site.client.request('/v1/me/', {
      as: 'alice',
      headers: {
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'https',
      },
    });
    expect(resultOf(response).uri).toBe(uri('alice'));
  });
});

describe('GET /users/{username}/', () => {
  it('responses whole records with their null fields', async () => {
    const response = await site.client.request('/v1/users/alice/', {
      as: 'bob',
    });
    expect(resultOf(response)).toMatchObject({
      username: 'alice',
      emails: expect.arrayContaining(['alice@example.test']),
      is_private: false,
      locked: false,
      creation: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
    });
  });

  it('matches names as LDAP does and responses in its spelling', async () => {
    const response = await site.client.request('/v1/users/ALICE/', {
      as: 'bob',
    });
    expect(resultOf(response).username).toBe('alice');
  });

  it.each(['/v1/users/alice', '/v1/users/%61lice/', '/v1/users/alice/?x=1'])(
    'responses %s directly',
    async path => {
      const response = await site.client.request(path, { as: 'bob' });
      expect(resultOf(response).username).toBe('alice');
    },
  );

  it('shows a locked account as such', async () => {
    const response = await site.client.request('/v1/users/carol/', {
      as: 'alice',
    });
    expect(resultOf(response)).toMatchObject({
      username: 'carol',
      locked: true,
    });
  });

  it.each([
    ['nobody', 'nobody'],
    ['nofas', 'nofas'],
    ['admin', 'admin'],
    ['-dash', '-dash'],
    ['a%2Fb', 'a/b'],
    ['%00', '\0'],
    ['alice%00', 'alice\0'],
    ['alice%0D%0A', 'alice\r\n'],
    ['*', '*'],
    ['al*', 'al*'],
    ['(alice)', '(alice)'],
    ['alice)(uid=*', 'alice)(uid=*'],
    ['alice%5C', 'alice\\'],
    ['alice,cn=x', 'alice,cn=x'],
    ['%D0%B0lice', '\u0430lice'],
    ['%EF%BD%81lice', '\uff41lice'],
    ['%ff', '%ff'],
    ['%zz', '%zz'],
    ['..', '..'],
    ['a'.repeat(256), 'a'.repeat(256)],
  ])('knows no user "%s"', async (segment, name) => {
    const response = await site.client.request(`/v1/users/${segment}/`, {
      as: 'alice',
    });
    expect(response.status).toBe(404);
    expect(response.json).toEqual({
      message: 'User not found',
      name,
      request_id: expect.any(String),
    });
  });

  it('responses HEAD as GET, without the body', async () => {
    const response = await site.client.request('/v1/users/alice/', {
      as: 'bob',
      method: 'HEAD',
    });
    expect(response).toMatchObject({ status: 200, text: '' });
  });
});

describe('a private profile', () => {
  const hidden = [
    ...['human_name', 'surname', 'givenname', 'ircnicks', 'locale'],
    ...['timezone', 'gpgkeyids', 'sshpubkeys', 'github_username'],
    ...['gitlab_username', 'pronouns', 'websites', 'rssurls'],
  ];

  it('is whole for its owner', async () => {
    const record = resultOf(
      await site.client.request('/v1/users/bob/', { as: 'bob' }),
    );
    for (const field of hidden) {
      expect([field, record[field]]).not.toEqual([field, null]);
    }
  });

  it.each(['alice', 'admin', 'bot/builder.example.test'])(
    'hides its fields from %s, under every mask and in lists',
    async viewer => {
      const whole = await site.client.request('/v1/users/bob/', { as: viewer });
      const list = await site.client.request('/v1/users/?page_size=1000', {
        as: viewer,
        headers: { 'X-Fields': ['username', ...hidden].join(',') },
      });
      const listed = (
        list.json as { result: Record<string, unknown>[] }
      ).result.find(({ username }) => username === 'bob')!;
      expect(resultOf(whole)).toMatchObject({
        is_private: true,
        emails: expect.any(Array),
      });
      for (const field of hidden) {
        const masked = await site.client.request('/v1/users/bob/', {
          as: viewer,
          headers: { 'X-Fields': field },
        });
        expect(resultOf(masked)).toEqual({ [field]: null });
        expect([resultOf(whole)[field], listed[field]]).toEqual([null, null]);
      }
    },
  );
});

describe('GET /users/', () => {
  it('partitions all served users by pages, in the order of names', async () => {
    const pages: ClientResponse[] = [];
    const total = () =>
      (pages[0].json as { total_results: number }).total_results;
    do {
      pages.push(
        await site.client.request(
          `/v1/users/?page_size=37&page_number=${pages.length + 1}`,
          { as: 'alice', headers: { 'X-Fields': 'username' } },
        ),
      );
    } while (pages.length * 37 < total());
    const all = pages.flatMap(names);
    const lower = all.map(name => name.toLowerCase());
    expect(all).toHaveLength(total());
    expect(new Set(all).size).toBe(all.length);
    expect(lower).toEqual([...lower].sort());
    expect(all).toEqual(expect.arrayContaining(['alice', 'bob', 'carol']));
    expect(all).not.toEqual(expect.arrayContaining(['nofas']));
    expect(all).not.toEqual(expect.arrayContaining(['admin']));
  });

  it('responses 40 unless asked otherwise, and the envelope in full', async () => {
    const response = await site.client.request('/v1/users/', { as: 'alice' });
    expect(response.json).toMatchObject({ page: 1, page_size: 40 });
    expect(names(response)).toHaveLength(40);
  });

  it('is empty past the end, with the right total', async () => {
    const response = await site.client.request('/v1/users/?page_number=99', {
      as: 'alice',
    });
    expect(response.json).toMatchObject({
      result: [],
      page: 99,
      page_size: 40,
    });
    expect(
      (response.json as { total_results: number }).total_results,
    ).toBeGreaterThan(150);
  });

  it.each(['page_size=0', 'page_size=1001', 'page_number=x'])(
    'refuses %s',
    async query => {
      const response = await site.client.request(`/v1/users/?${query}`, {
        as: 'alice',
      });
      expect(response.status).toBe(400);
      expect(response.json).toMatchObject({
        message: 'Input payload validation failed',
      });
    },
  );

  it('refuses a broken mask', async () => {
    const response = await site.client.request('/v1/users/?page_size=2', {
      as: 'alice',
      headers: { 'X-Fields': '{username' },
    });
    expect(response.json).toMatchObject({
      message: 'Mask parse error: Missing closing bracket',
    });
  });

  it('responses empty objects to a mask of unknown names', async () => {
    const response = await site.client.request('/v1/users/?page_size=2', {
      as: 'alice',
      headers: { 'X-Fields': 'nope' },
    });
    expect(response.json).toMatchObject({ result: [{}, {}] });
  });
});

describe('what is not there', () => {
  it.each(['/v1/', '/v1/nope/', '/v1/Users/', '/v2/me/', '/v1/users//'])(
    'is 404: %s',
    async path => {
      const response = await site.client.request(path, { as: 'alice' });
      expect(response.status).toBe(404);
      expect(response.json).toEqual({
        message: 'The requested URL was not found on the server.',
        request_id: expect.any(String),
      });
    },
  );

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('is 405: %s', async method => {
    const response = await site.client.request('/v1/users/alice/', {
      as: 'bob',
      method,
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it('says what is there to OPTIONS', async () => {
    const response = await site.client.request('/v1/me/', {
      as: 'alice',
      method: 'OPTIONS',
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});
