import type { LoggerService } from '@backstage/backend-plugin-api';
import { inspect } from 'node:util';

/**
 * A logger that records its lines with level and metadata, for example
 * `warn The server is down`.
 *
 * @public
 */
export class RecordingLogger implements LoggerService {
  /** The recorded lines, in order. */
  readonly lines = new Array<string>();

  /** Records a line of level `error`. */
  error(message: string, meta?: unknown): void {
    this.#record('error', message, meta);
  }

  /** Records a line of level `warn`. */
  warn(message: string, meta?: unknown): void {
    this.#record('warn', message, meta);
  }

  /** Records a line of level `info`. */
  info(message: string, meta?: unknown): void {
    this.#record('info', message, meta);
  }

  /** Records a line of level `debug`. */
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
