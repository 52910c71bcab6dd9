import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type ConnectionOptions } from 'node:tls';
import { openssl } from './certificates';

/**
 * Connects to a TLS server that requires a client certificate from a given CA.
 * Returns the common name that the server reads from the certificate, or
 * `refused`.
 */
export async function tlsHandshake(options: {
  /** CA certificate that the server trusts, in PEM. */
  readonly authority: string;
  /** Key and certificate of the client. */
  readonly identity: Pick<
    ConnectionOptions,
    'pfx' | 'passphrase' | 'key' | 'cert'
  >;
}): Promise<string> {
  const { authority, identity } = options;
  const own = await makeServerIdentity();
  const server = createServer({ ...own, ca: authority, requestCert: true });
  server.on('tlsClientError', () => undefined); // the client also gets an error
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
    checkServerIdentity: () => undefined, // the certificate does not contain a host name
  });
  try {
    let received = '';
    for await (const chunk of client) {
      received += chunk;
    }
    return received || 'refused'; // TLS 1.3 may close the connection silently
  } catch {
    return 'refused';
  } finally {
    server.close();
  }
}

/** Returns a new key and a self-signed certificate, in PEM. */
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
