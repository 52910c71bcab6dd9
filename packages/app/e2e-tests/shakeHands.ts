import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type ConnectionOptions } from 'node:tls';
import { openssl } from './openssl';

/** What a client proves itself with. */
export type Identity = Pick<
  ConnectionOptions,
  'pfx' | 'passphrase' | 'key' | 'cert'
>;

/**
 * Connects a client to a TLS server that asks for a certificate and trusts one
 * authority; as whom the server knows the client.
 */
export async function shakeHands(options: {
  /** PEM. */
  readonly authority: string;
  readonly identity: Identity;
}): Promise<string> {
  const { authority, identity } = options;
  const own = await makeServerIdentity();
  const server = createServer({ ...own, ca: authority, requestCert: true });
  server.on('tlsClientError', () => undefined); // the client hears of it
  server.on('secureConnection', socket =>
    socket.end(String(socket.getPeerCertificate().subject.CN)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({
    ...identity,
    port,
    host: '127.0.0.1',
    ca: own.cert,
    checkServerIdentity: () => undefined, // it has no name
  });
  try {
    let heard = '';
    for await (const chunk of client) {
      heard += chunk;
    }
    return heard || 'refused'; // in TLS 1.3 the client may just be hung up on
  } catch {
    return 'refused';
  } finally {
    server.close();
  }
}

/** A key and a certificate of the server's own. */
export async function makeServerIdentity() {
  const folder = await mkdtemp(join(tmpdir(), 'server-'));
  const [keyFile, certFile] = [join(folder, 'key'), join(folder, 'cert')];
  await openssl(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt'],
    ...['ec_paramgen_curve:P-256', '-noenc', '-subj', '/CN=server'],
    ...['-keyout', keyFile, '-out', certFile, '-days', '1'],
  );
  const key = await readFile(keyFile, 'utf8');
  const cert = await readFile(certFile, 'utf8');
  await rm(folder, { recursive: true });
  return { key, cert };
}
