import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Between the ports of the realms (packages/realm) and Linux's ephemeral ports
 * (32768 and up), so that no test that runs concurrently takes the port before
 * its server has started.
 */
const LOWEST = 32_000;
const HIGHEST = 32_768;

/** Returns an unused TCP port of 127.0.0.1. */
export async function freePort() {
  const server = createServer();
  try {
    server.listen(randomInt(LOWEST, HIGHEST), '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (error.code !== 'EADDRINUSE') throw error;
    return freePort();
  }
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
