import type { LoggerService } from '@backstage/backend-plugin-api';
import { inspect } from 'node:util';

/**
 * A logger that keeps its lines, each with its level and metadata, for example
 * `warn The server is down`.
 *
 * @public
 */
export class RecordingLogger implements LoggerService {
  readonly lines = new Array<string>();

  error(message: string, meta?: unknown): void {
    this.#record('error', message, meta);
  }

  warn(message: string, meta?: unknown): void {
    this.#record('warn', message, meta);
  }

  info(message: string, meta?: unknown): void {
    this.#record('info', message, meta);
  }

  debug(message: string, meta?: unknown): void {
    this.#record('debug', message, meta);
  }

  child(): LoggerService {
    return this;
  }

  #record(level: string, message: string, meta: unknown): void {
    const suffix = meta === undefined ? '' : ` ${inspect(meta)}`;
    this.lines.push(`${level} ${message}${suffix}`);
  }
}
