import type { LoggerService } from '@backstage/backend-plugin-api';

/** Keeps all that is logged, metadata included. */
export class MemoryLogger implements LoggerService {
  readonly lines = new Array<string>();

  error = (...line: unknown[]) => this.#keep('error', line);
  warn = (...line: unknown[]) => this.#keep('warn', line);
  info = (...line: unknown[]) => this.#keep('info', line);
  debug = (...line: unknown[]) => this.#keep('debug', line);
  child = () => this;

  #keep(level: string, line: readonly unknown[]): void {
    this.lines.push([level, ...line.map(part => String(part))].join(' '));
  }
}
