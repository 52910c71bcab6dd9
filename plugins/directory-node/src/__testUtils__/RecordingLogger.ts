import type { LoggerService } from '@backstage/backend-plugin-api';
import { inspect } from 'node:util';

/**
 * A logger that keeps its lines, each with its level and metadata, for example
 * `warn The server is down`.
 *
 * @public
 */
export class RecordingLogger implements LoggerService {
  /** The lines so far, in their order. */
  readonly lines = new Array<string>();

  /** Keeps a line of level `error`. */
  error(message: string, meta?: unknown): void {
    this.#record('error', message, meta);
  }

  /** Keeps a line of level `warn`. */
  warn(message: string, meta?: unknown): void {
    this.#record('warn', message, meta);
  }

  /** Keeps a line of level `info`. */
  info(message: string, meta?: unknown): void {
    this.#record('info', message, meta);
  }

  /** Keeps a line of level `debug`. */
  debug(message: string, meta?: unknown): void {
    this.#record('debug', message, meta);
  }

  /** Returns this logger. */
  child(): LoggerService {
    return this;
  }

  #record(level: string, message: string, meta: unknown): void {
    const suffix = meta === undefined ? '' : ` ${inspect(meta)}`;
    this.lines.push(`${level} ${message}${suffix}`);
  }
}
