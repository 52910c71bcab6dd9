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
