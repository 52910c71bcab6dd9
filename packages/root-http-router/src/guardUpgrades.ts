import type { Request, Response } from 'express';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';

/**
 * Maximum time in milliseconds for a plugin to respond to an upgrade request.
 */
const CLAIM_MS = 10_000;

/**
 * Prevents requests with an `Upgrade` header from leaving sockets open.
 *
 * Node.js treats them as ordinary requests as long as the server has no
 * `upgrade` listener. The returned function makes the connection close after
 * the response; `h2c`, which clients offer on ordinary requests, is
 * exempt.
 *
 * Once a plugin adds an `upgrade` listener, Node.js passes every upgrade
 * request to it, removes its own listeners from the socket and does not apply
 * timeouts to it. Sockets that no listener has written to after `claimMs`
 * (default 10 seconds) get 400 and are destroyed, and errors of sockets are
 * handled: an error without a listener would be an uncaught exception.
 */
export function guardUpgrades(
  server: Server,
  options: { readonly claimMs?: number } = {},
): (req: Request, res: Response) => void {
  const { claimMs = CLAIM_MS } = options;

  const closeUnclaimed = (_req: IncomingMessage, stream: Duplex) => {
    // Node.js documents a socket but its type is a stream, because code other
    // than the server may emit the event.
    const socket = stream as Socket;
    const { bytesWritten } = socket;
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => {
      if (socket.bytesWritten === bytesWritten) {
        socket.end(
          'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
        );
        socket.destroySoon();
      }
    }, claimMs);
    socket.once('close', () => clearTimeout(timer));
  };

  const watch = (event: string | symbol) => {
    if (event === 'upgrade') {
      server.off('newListener', watch);
      server.on('upgrade', closeUnclaimed);
    }
  };
  server.on('newListener', watch);

  return (req, res) => {
    const { upgrade } = req.headers;
    if (upgrade && !/^h2c$/i.test(upgrade)) {
      res.set('Connection', 'close');
    }
  };
}
