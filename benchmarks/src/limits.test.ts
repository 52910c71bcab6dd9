import { referenceRequest } from './limits';
import { tokenCredentials } from './credentials/credentials';
import { Readable } from 'node:stream';

const { readBody } = require('./portal/constantResponse.cjs');

const bearer = tokenCredentials('token', 'alice');
const negotiate = { ...bearer, mode: 'negotiate' } as const;

function request(url: string, body?: string) {
  const method = body === undefined ? 'GET' : 'POST';
  return Object.assign(Readable.from([body ?? '']), {
    url,
    method,
    headers: { authorization: 'Negotiate YII=' },
  });
}

describe('referenceRequest', () => {
  it('uses the path that accepts a SPNEGO token only in mode negotiate', () => {
    const bytes = 400.4;
    expect(referenceRequest({ credentials: bearer, bytes })).toMatchObject({
      path: '/constant?size=400',
    });
    expect(referenceRequest({ credentials: negotiate, bytes })).toMatchObject({
      path: '/accept?size=400',
    });
  });
});

describe('readBody', () => {
  const kerberos = { accept: jest.fn() };

  beforeEach(() => {
    kerberos.accept.mockReset();
  });

  it.each([400, 30_000])('returns JSON of %d bytes', async size => {
    const body = await readBody(request(`/constant?size=${size}`), kerberos);
    expect(body).toHaveLength(size);
    expect(JSON.parse(body)).toEqual({ result: expect.stringMatching(/^x+$/) });
    expect(kerberos.accept).not.toHaveBeenCalled();
  });

  it('reads the form of a POST request', async () => {
    const post = request('/constant?size=400', 'user=alice');
    expect(await readBody(post, kerberos)).toHaveLength(400);
    expect(post.readableEnded).toBe(true);
  });

  it.each([
    ['accepted', 400],
    ['refused', undefined],
  ])('returns a body when the token is %s: %p', async (outcome, size) => {
    kerberos.accept.mockResolvedValue({ outcome });
    const body = await readBody(request('/accept?size=400'), kerberos);
    expect(body?.length).toBe(size);
    expect(kerberos.accept).toHaveBeenCalledWith('Negotiate YII=');
  });
});
