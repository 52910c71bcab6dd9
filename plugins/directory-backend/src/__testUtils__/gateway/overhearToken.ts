import type { Realm } from '@directory-gateway/realm';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayClient } from './GatewayClient';

/** The header that curl sends with somebody's ticket, before anyone accepts it. */
export async function captureToken(
  realm: Realm,
  principal: string,
): Promise<string> {
  const server = createServer((req, res) =>
    res.end(req.headers.authorization ?? ''),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const gateway = { baseUrl: `http://localhost:${port}` };
  try {
    // Not of the dialect whose responses are held against the contract.
    const { text } = await new GatewayClient({ gateway, realm }).request(
      '/fasjson/',
      { as: principal },
    );
    return text;
  } finally {
    server.close();
  }
}
