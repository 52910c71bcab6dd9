import { multipart } from '../../__testUtils__/gateway/GatewayClient';
import { readParameters } from './readParameters';

describe('readParameters of a multipart form', () => {
  const read = (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `field${index}`);
    const { body, headers } = multipart(
      Object.fromEntries(names.map(name => [name, 'x'])),
    );
    return readParameters({
      headers: { 'content-type': headers['Content-Type'] },
      body: Buffer.from(body),
      query: new URLSearchParams(),
    });
  };

  it('reads 32 parts', async () => {
    expect([...(await read(32)).keys()]).toHaveLength(32);
  });

  it.each([33, 900])('rejects %d parts', async count => {
    await expect(read(count)).rejects.toMatchObject({
      status: 400,
      body: {
        message: 'Input payload validation failed',
        errors: { body: 'Must be a multipart form of at most 32 parts.' },
      },
    });
  });
});

describe('readParameters', () => {
  const read = async (
    contentType: string,
    body: string,
    options: { readonly queryOverridesForm?: boolean } = {},
  ) =>
    Object.fromEntries(
      await readParameters({
        headers: { 'content-type': contentType },
        body: Buffer.from(body),
        query: new URLSearchParams('user=query&csr=query'),
        ...options,
      }),
    );
  const ofBody = { user: 'body', csr: 'query' };
  const form = 'application/x-www-form-urlencoded';

  it.each([
    'application/json',
    'application/vnd.api+json',
    'Application/Problem+JSON; charset=utf-8',
  ])(
    'parses a body of type %s as JSON and prefers it to the query',
    async type => {
      for (const queryOverridesForm of [false, true]) {
        expect(
          await read(type, '{"user":"body"}', { queryOverridesForm }),
        ).toEqual(ofBody);
      }
    },
  );

  it('prefers the form to the query unless queryOverridesForm is true', async () => {
    expect(await read(form, 'user=body')).toEqual(ofBody);
    expect(await read(form, 'user=body', { queryOverridesForm: true })).toEqual(
      {
        user: 'query',
        csr: 'query',
      },
    );
  });

  it.each(['text/json', 'application/json-seq', 'application/+json2', ''])(
    'ignores a body of type "%s"',
    async type => {
      expect(await read(type, '{"user":"body"}')).toEqual({
        user: 'query',
        csr: 'query',
      });
    },
  );
});
