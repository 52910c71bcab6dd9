import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/**
 * Below Linux's ephemeral range (32768 and up): nobody's outgoing connection
 * takes such a port while a server is being restarted on it.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** This many different TCP ports of 127.0.0.1 that nobody listens on now. */
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

/** An anonymous bind, the shortest thing a directory server answers (RFC 4511 §4.2). */
const BIND = Buffer.from('300c020101600702010304008000', 'hex');

const POLL_MS = 30;

export interface ProbeOptions {
  port: number;
  /** What to wait for: a connection, or an answer to an LDAP request. */
  until: 'connected' | 'answered';
  /** Ends the waiting. */
  signal: AbortSignal;
}

/** Waits until a server on 127.0.0.1 is there. */
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
    if (until === 'answered') {
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
