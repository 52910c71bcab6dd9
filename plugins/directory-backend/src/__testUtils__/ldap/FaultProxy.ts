import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** One connection of a client, and the one to the server that serves it. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly toServer: FaultyPipe;
  readonly toClient: FaultyPipe;
}

/**
 * Stands between a client and a real server, byte for byte, and does to their
 * connections what networks do. Listens on a free port of 127.0.0.1.
 */
export class FaultProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #links = new Set<Link>();
  #listener: Server | undefined;
  #toServer: Fault = { kind: 'pass' };
  #toClient: Fault = { kind: 'pass' };
  #port = 0;
  #accepted = 0;

  private constructor(url: string) {
    this.#target = { host: '127.0.0.1', port: Number(new URL(url).port) };
  }

  /** Starts one in front of the server of a URL. */
  static async start(url: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(url);
    await proxy.accept();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections accepted since the start. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Connections that neither side has closed. */
  get open(): number {
    return this.#links.size;
  }

  /** What becomes of the client's bytes, also on connections that exist. */
  set toServer(fault: Fault) {
    this.#toServer = fault;
    for (const link of this.#links) {
      link.toServer.fault = fault;
    }
  }

  /** What becomes of the server's bytes, also on connections that exist. */
  set toClient(fault: Fault) {
    this.#toClient = fault;
    for (const link of this.#links) {
      link.toClient.fault = fault;
    }
  }

  /** The same in both directions. */
  set both(fault: Fault) {
    this.toServer = fault;
    this.toClient = fault;
  }

  /** On the connections that exist nothing arrives any more; new ones work. */
  vanish(): void {
    for (const { toServer, toClient } of this.#links) {
      toServer.fault = { kind: 'hang' };
      toClient.fault = { kind: 'hang' };
    }
  }

  /** Ends every connection with a reset (RST). */
  reset(): void {
    for (const { client, server } of this.#links) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Resets every connection again and again, until the result is called. */
  resetEvery(ms: number): () => void {
    const timer = setInterval(() => this.reset(), ms);
    return () => clearInterval(timer);
  }

  /** Refuses new connections; those that exist stay. */
  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    // The event comes with the end of the last connection: not waited for.
    listener?.close();
  }

  /** Accepts connections again, on the same port. */
  async accept(): Promise<void> {
    this.#listener = createServer(client => this.#link(client));
    this.#listener.listen(this.#port, '127.0.0.1');
    await once(this.#listener, 'listening');
    this.#port = (this.#listener.address() as AddressInfo).port;
  }

  /** Ends everything. */
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
    // A client that is gone for good takes its connection to the server along;
    // what the server does reaches the client through the pipe only.
    client.once('close', () => {
      server.destroy();
      this.#links.delete(link);
    });
    client.on('error', () => {});
    server.on('error', () => link.toClient.breakOff());
  }
}

/** What becomes of the bytes of one direction. */
export type Fault =
  | { readonly kind: 'pass' }
  /** Each arrives this much later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Nothing arrives, not even the end, as if the other end had vanished. */
  | { readonly kind: 'hang' }
  /** Of each connection these many bytes arrive, and then its end. */
  | { readonly kind: 'truncate'; readonly after: number }
  /** They arrive changed; `at` counts the connection's bytes before them. */
  | {
      readonly kind: 'change';
      readonly change: (bytes: Buffer, at: number) => Buffer;
    };

type Piece =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly due: number }
  | { readonly kind: 'end' | 'break'; readonly due: number };

/** One direction of a connection. Bytes that hang go on after the hanging. */
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

  /** The source has failed: so does the sink, after what is on its way. */
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
