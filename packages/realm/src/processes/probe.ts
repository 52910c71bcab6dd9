import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

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
