import type { Socket } from 'node:net';

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
