import { eventually } from './__testUtils__/eventually';
import { withGateway } from './__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

const site = withGateway({
  configure: () => ({ directory: { fasjson: { enabled: true } } }),
});

const paths = [
  '/v1/me/',
  '/v1/me/colleagues/',
  '/v1/users/',
  '/v1/users/alice/',
  '/v1/users/alice/groups/',
  '/v1/users/alice/agreements/',
  '/v1/users/alice/memberships/',
  '/v1/groups/',
  '/v1/groups/packager/',
  '/v1/groups/packager/members/',
  '/v1/groups/packager/sponsors/',
  '/v1/groups/packager/is-member/alice',
  '/v1/search/users/?username=ali',
  '/fasjson/v1/users/alice/',
  '/fasjson/v1/users/?page_size=10',
];

describe('asked again with the validator of the answer', () => {
  it.each(paths)('%s is not sent again', async path => {
    const first = await site.client.ask(path, { as: 'alice' });
    expect(first.status).toBe(200);
    const etag = first.headers.get('etag')!;
    for (const method of ['GET', 'HEAD']) {
      const again = await site.client.ask(path, {
        method,
        as: 'alice',
        headers: { 'If-None-Match': etag },
      });
      expect(again).toMatchObject({ status: 304, text: '' });
      expect(again.headers.get('etag')).toBe(etag);
      expect(again.headers.get('cache-control')).toBe('private, no-cache');
      expect(again.headers.get('vary')).toMatch(/Authorization/);
      expect(again.headers.get('vary')).toMatch(/X-Fields/);
    }
  });

  it('another mask is another answer', async () => {
    const path = '/v1/users/alice/';
    const { headers } = await site.client.ask(path, { as: 'alice' });
    const masked = await site.client.ask(path, {
      as: 'alice',
      headers: {
        'If-None-Match': headers.get('etag')!,
        'X-Fields': 'username',
      },
    });
    expect(masked.status).toBe(200);
  });

  it('nobody is answered by the validator alone', async () => {
    const path = '/v1/users/alice/';
    const { headers } = await site.client.ask(path, { as: 'alice' });
    const nobody = await site.client.ask(path, {
      headers: { 'If-None-Match': headers.get('etag')! },
    });
    expect(nobody.status).toBe(401);
    const any = await site.client.ask(path, {
      headers: { 'If-None-Match': '*' },
    });
    expect(any.status).toBe(401);
  });
});

it('tells what the owner of a private profile sees from what others see', async () => {
  const path = '/v1/users/bob/';
  const own = await site.client.ask(path, { as: 'bob' });
  const shown = await site.client.ask(path, {
    as: 'alice',
    headers: { 'If-None-Match': own.headers.get('etag')! },
  });
  expect(shown.status).toBe(200);
  expect(shown.headers.get('etag')).not.toBe(own.headers.get('etag'));
});

it('sends what has changed in the directory', async () => {
  const { headers } = await site.client.ask('/v1/users/alice/', { as: 'bob' });
  await site.realm.modify(
    `dn: uid=alice,cn=users,cn=accounts,${site.realm.baseDn}\n` +
      'changetype: modify\nreplace: fasTimeZone\nfasTimeZone: Asia/Tokyo\n',
  );
  await eventually(async () => {
    const again = await site.client.ask('/v1/users/alice/', {
      as: 'bob',
      headers: { 'If-None-Match': headers.get('etag')! },
    });
    expect(again.status).toBe(200);
    expect(again.text).toContain('Asia/Tokyo');
  });
});
