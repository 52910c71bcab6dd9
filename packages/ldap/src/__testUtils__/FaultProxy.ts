import { once } from 'node:events';
import {
  type AddressInfo,
  type Server,
  type Socket,
  connect,
  createServer,
} from 'node:net';

/** Fault that affects the bytes of one direction. */
export type Fault =
  | { readonly kind: 'pass' }
  /** All bytes are delayed. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Nothing arrives, not even the end of the stream. */
  | { readonly kind: 'hang' }
  /** The connection ends after this number of bytes. */
  | { readonly kind: 'truncate'; readonly after: number }
  /** Bytes are changed; `at` is their offset in the connection. */
  | {
      readonly kind: 'change';
      readonly change: (bytes: Buffer, at: number) => Buffer;
    };

type Piece =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly due: number }
  | { readonly kind: 'end' | 'break'; readonly due: number };

/**
 * One direction of a connection. Bytes that hang are sent after the fault ends.
 */
export class FaultyPipe {
  readonly #to: Socket;
  readonly #pieces: Piece[] = [];
  #fault: Fault = { kind: 'pass' };
  #passed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sockets: { readonly from: Socket; readonly to: Socket }) {
    this.#to = sockets.to;
    sockets.from.on('data', bytes => {
      this.#push({ kind: 'bytes', bytes, due: this.#due() });
    });
    sockets.from.on('end', () => {
      this.#push({ kind: 'end', due: this.#due() });
    });
  }

  set fault(fault: Fault) {
    this.#fault = fault;
    this.#pump();
  }

  /** Resets the destination after delivering the bytes in transit. */
  breakOff(): void {
    this.#push({ kind: 'break', due: this.#due() });
  }

  #due(): number {
    const delay = this.#fault.kind === 'delay' ? this.#fault.ms : 0;
    return performance.now() + delay;
  }

  #push(piece: Piece): void {
    this.#pieces.push(piece);
    this.#pump();
  }

  #pump(): void {
    clearTimeout(this.#timer);
    while (this.#pieces.length > 0 && this.#fault.kind !== 'hang') {
      const wait = this.#pieces[0].due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#pump(), wait);
        return;
      }
      this.#deliver(this.#pieces.shift()!);
    }
  }

  #deliver(piece: Piece): void {
    if (piece.kind === 'bytes') {
      const at = this.#passed;
      this.#passed += piece.bytes.length;
      this.#write(piece.bytes, at);
    } else if (piece.kind === 'end') {
      this.#to.end();
    } else {
      this.#to.resetAndDestroy();
    }
  }

  #write(bytes: Buffer, at: number): void {
    if (!this.#to.writable) {
      return;
    }
    const fault = this.#fault;
    if (fault.kind === 'change') {
      this.#to.write(fault.change(bytes, at));
    } else if (fault.kind === 'truncate' && at + bytes.length > fault.after) {
      this.#to.end(bytes.subarray(0, Math.max(0, fault.after - at)));
    } else {
      this.#to.write(bytes);
    }
  }
}

/** A client connection and the corresponding connection to the server. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly toServer: FaultyPipe;
  readonly toClient: FaultyPipe;
}

/**
 * A TCP proxy that injects network faults. It listens on a free port of
 * 127.0.0.1.
 */
export class FaultProxy {
  #target: { readonly host: string; readonly port: number };
  readonly #links = new Set<Link>();
  #listener: Server | undefined;
  #toServer: Fault = { kind: 'pass' };
  #toClient: Fault = { kind: 'pass' };
  #port = 0;
  #accepted = 0;

  private constructor(url: string) {
    this.#target = targetOf(url);
  }

  /** Starts a proxy for the server of a URL. */
  static async start(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(url);
    await proxy.accept();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Number of accepted connections. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#links.size;
  }

  /** Sets the fault of new and existing connections from client to server. */
  set toServer(fault: Fault) {
    this.#toServer = fault;
    for (const link of this.#links) {
      link.toServer.fault = fault;
    }
  }

  /** Sets the fault of new and existing connections from server to client. */
  set toClient(fault: Fault) {
    this.#toClient = fault;
    for (const link of this.#links) {
      link.toClient.fault = fault;
    }
  }

  /** Sets the fault of both directions. */
  set both(fault: Fault) {
    this.toServer = fault;
    this.toClient = fault;
  }

  /** Forwards new connections to the server of another URL. */
  redirect(url: string): void {
    this.#target = targetOf(url);
  }

  /** Makes existing connections hang; new ones work. */
  vanish(): void {
    for (const { toServer, toClient } of this.#links) {
      toServer.fault = { kind: 'hang' };
      toClient.fault = { kind: 'hang' };
    }
  }

  /** Resets all connections (RST). */
  reset(): void {
    for (const { client, server } of this.#links) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Refuses new connections; existing ones stay open. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    // Not awaited: `close` waits for the last connection.
    listener?.close();
  }

  /** Accepts connections again, on the same port. */
  async accept(): Promise<void> {
    this.#listener = createServer(client => this.#link(client));
    this.#listener.listen(this.#port, '127.0.0.1');
    await once(this.#listener, 'listening');
    this.#port = (this.#listener.address() as AddressInfo).port;
  }

  /** Closes the listener and all connections. */
  async stop(): Promise<void> {
    await this.refuse();
    for (const { client, server } of this.#links) {
      client.destroy();
      server.destroy();
    }
  }

  #link(client: Socket): void {
    this.#accepted++;
    const server = connect(this.#target);
    const link: Link = {
      client,
      server,
      toServer: new FaultyPipe({ from: client, to: server }),
      toClient: new FaultyPipe({ from: server, to: client }),
    };
    link.toServer.fault = this.#toServer;
    link.toClient.fault = this.#toClient;
    this.#links.add(link);
    client.setNoDelay(true);
    server.setNoDelay(true);
    // A closed client closes the connection to the server. The server's end
    // reaches the client only through the pipe.
    client.once('close', () => {
      server.destroy();
      this.#links.delete(link);
    });
    client.on('error', () => {});
    server.on('error', () => link.toClient.breakOff());
  }
}

function targetOf(url: string) {
  return { host: '127.0.0.1', port: Number(new URL(url).port) };
}
