import { cpus } from 'node:os';

/** How busy one CPU of the machine is, whoever uses it. */
export class CpuMeter {
  readonly #cpu: number;
  #last: { readonly busy: number; readonly all: number };

  constructor(cpu: number) {
    this.#cpu = cpu;
    this.#last = this.#read();
  }

  /** The share of the time since the last call, from 0 to 1. */
  lap(): number {
    const { busy, all } = this.#last;
    this.#last = this.#read();
    return (this.#last.busy - busy) / Math.max(1, this.#last.all - all);
  }

  #read() {
    const { idle, ...work } = cpus()[this.#cpu].times;
    const busy = Object.values(work).reduce((sum, ms) => sum + ms, 0);
    return { busy, all: busy + idle };
  }
}
