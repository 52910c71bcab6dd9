import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/**
 * Below Linux's ephemeral ports (32768 and up), so that no outgoing connection
 * takes the port of a server while it restarts. Those from 32000 are used by
 * scripts/free-port.mjs.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Returns different unused TCP ports of 127.0.0.1. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!ports.has(port) && (await isFree(port))) {
      ports.add(port);
    }
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}

/** Anonymous bind (RFC 4511 §4.2). */
const BIND = Buffer.from('300c020101600702010304008000', 'hex');

const POLL_MS = 30;

interface ProbeOptions {
  port: number;
  /** What to wait for: a connection, or the response to an LDAP bind. */
  until: 'connected' | 'response';
  signal: AbortSignal;
}

/** Waits until a server on 127.0.0.1 is ready. */
export async function probe(options: ProbeOptions): Promise<void> {
  const { signal } = options;
  while (!(await tryOnce(options))) {
    await setTimeout(POLL_MS, undefined, { signal });
  }
}

async function tryOnce({
  port,
  until,
  signal,
}: ProbeOptions): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1', signal });
  try {
    await once(socket, 'connect');
    if (until === 'response') {
      socket.write(BIND);
      await once(socket, 'data');
    }
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    socket.destroy();
  }
}
