import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestCa } from './__testUtils__/TestCa';
import { doctorChecks } from './doctor';

// OpenSSL generates keys, which takes seconds on a busy machine.
jest.setTimeout(120_000);

it('reads the CRL below publicUrl, or else below backend.baseUrl', async () => {
  const ca = await TestCa.start();
  const paths = new Array<string | undefined>();
  const server = createServer((req, res) => {
    paths.push(req.url);
    res.writeHead(404).end();
  }).listen(0, 'localhost');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const origin = `http://localhost:${port}`;
    const check = async (baseUrl: string, changes: JsonObject) => {
      const embedded = {
        organization: 'EXAMPLE.TEST',
        issuers: [ca.files()],
        ...changes,
      };
      return await doctorChecks[0].run({
        config: new ConfigReader({
          backend: { baseUrl },
          directory: { certificates: { embedded } },
        }),
        env: {},
        responseMs: 10_000,
      });
    };
    const { name } = await ca.issuer();
    const publicUrl = `${origin}/portal/api/directory`;
    // The discard service.
    const unreachable = 'http://localhost:9';
    expect(await check(unreachable, { publicUrl })).toMatchObject({
      status: 'warn',
      message: expect.stringContaining(`${publicUrl}/ca/${name}/crl`),
    });
    expect(await check(origin, {})).toMatchObject({ status: 'warn' });
    expect(paths).toEqual([
      `/portal/api/directory/ca/${name}/crl`,
      `/api/directory/ca/${name}/crl`,
    ]);
  } finally {
    server.close();
    await ca.stop();
  }
});
