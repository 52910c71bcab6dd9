import type { LoggerService } from '@backstage/backend-plugin-api';

/** Keeps every line, its level in front, with whatever comes with it. */
export class RecordingLogger implements LoggerService {
  readonly lines = new Array<string>();

  error(message: string, meta?: unknown): void {
    this.#keep('error', message, meta);
  }

  warn(message: string, meta?: unknown): void {
    this.#keep('warn', message, meta);
  }

  info(message: string, meta?: unknown): void {
    this.#keep('info', message, meta);
  }

  debug(message: string, meta?: unknown): void {
    this.#keep('debug', message, meta);
  }

  child(): LoggerService {
    return this;
  }

  #keep(level: string, message: string, meta: unknown): void {
    this.lines.push(`${level} ${message} ${JSON.stringify(meta ?? {})}`);
  }
}
