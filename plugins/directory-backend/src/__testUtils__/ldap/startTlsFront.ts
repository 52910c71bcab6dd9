import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer, type TLSSocket } from 'node:tls';
import type { ServerCertificate } from './TestAuthority';

/** A TLS listener in front of a server that speaks without. */
export interface TlsFront {
  /** `ldaps://localhost:PORT`. */
  readonly url: string;
  stop(): void;
}

/** Shows a certificate to whoever connects, and forwards to an LDAP URL. */
export async function startTlsFront(
  certificate: ServerCertificate,
  ldapUrl: string,
): Promise<TlsFront> {
  const clients = new Set<TLSSocket>();
  const server = createServer({ ...certificate }, client => {
    clients.add(client);
    const port = Number(new URL(ldapUrl).port);
    pipeline(client, connect({ port, host: '127.0.0.1' }), client, () =>
      clients.delete(client),
    );
  });
  // A client that refuses the certificate is what these tests are about.
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `ldaps://localhost:${port}`,
    stop() {
      server.close();
      for (const client of clients) {
        client.destroy();
      }
    },
  };
}
