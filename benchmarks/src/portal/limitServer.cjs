// A plain HTTP server with the constant response, in a process that is started
// like the portal's.

const { createServer } = require('node:http');
const { readBody, requireFromPortal } = require('./constantResponse.cjs');

const logger = { debug() {}, info() {}, warn() {}, error: console.error };

async function main() {
  const { SpnegoAcceptor } = requireFromPortal('@directory-gateway/kerberos');
  const kerberos = await SpnegoAcceptor.create({
    keytab: process.env.REALM_HTTP_KEYTAB,
    realms: [],
    maxTokenBytes: 65_536,
    logger,
  });
  const server = createServer(async (req, res) => {
    const body = await readBody(req, kerberos);
    res
      .writeHead(body ? 200 : 401, { 'content-type': 'application/json' })
      .end(body);
  });
  // As in app-config.yaml.
  server.keepAliveTimeout = 75_000;
  server.listen(0, '127.0.0.1', () => {
    process.send({ port: server.address().port });
  });
}

process.on('disconnect', () => process.exit());
main();
