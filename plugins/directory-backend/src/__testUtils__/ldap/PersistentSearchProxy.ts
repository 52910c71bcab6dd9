import { once } from 'node:events';
import {
  connect,
  createServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { BerCursor, readBerHeader } from '../../ldap/connection/BerCursor';

const PERSISTENT_SEARCH = Buffer.from('2.16.840.1.113730.3.4.3');

/** Returns a SearchResultDone with insufficientAccessRights (50). */
function refusal(id: number): Buffer {
  return Buffer.from([
    ...[0x30, 0x0f, 0x02, 0x04, 0, 0, id >> 8, id & 0xff],
    ...[0x65, 0x07, 0x0a, 0x01, 50, 0x04, 0x00, 0x04, 0x00],
  ]);
}

/**
 * A proxy of a server without TLS that refuses persistent searches, like a
 * server that does not allow them: 389 Directory Server allows them to every
 * account.
 */
export class PersistentSearchProxy {
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  #listener: Server;

  private constructor(url: string) {
    this.#port = Number(new URL(url).port);
    this.#listener = createServer(client => this.#serve(client));
  }

  static async start(url: string): Promise<PersistentSearchProxy> {
    const proxy = new PersistentSearchProxy(url);
    proxy.#listener.listen(0, '127.0.0.1');
    await once(proxy.#listener, 'listening');
    return proxy;
  }

  get url(): string {
    return `ldap://localhost:${(this.#listener.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#listener.close();
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  #serve(client: Socket): void {
    const server = connect(this.#port, '127.0.0.1');
    let pending = Buffer.alloc(0);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
      });
    }
    server.pipe(client);
    client.on('data', chunk => {
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const header = readBerHeader(pending, 0);
        if (!header || header.end > pending.length) {
          return;
        }
        const message = pending.subarray(0, header.end);
        pending = pending.subarray(header.end);
        if (message.includes(PERSISTENT_SEARCH)) {
          client.write(refusal(messageIdOf(message)));
        } else {
          server.write(message);
        }
      }
    });
  }
}

function messageIdOf(message: Buffer): number {
  const cursor = new BerCursor(message);
  const end = cursor.enter(0x30, message.length);
  return cursor.readInteger(0x02, end);
}
