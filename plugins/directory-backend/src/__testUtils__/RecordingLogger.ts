import type { LoggerService } from '@backstage/backend-plugin-api';

/** Keeps what is logged, so that a test can look at it. */
export class RecordingLogger implements LoggerService {
  readonly #lines: string[] = [];

  /** `warn A message`, one a call. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  error(message: string): void {
    this.#lines.push(`error ${message}`);
  }

  warn(message: string): void {
    this.#lines.push(`warn ${message}`);
  }

  info(message: string): void {
    this.#lines.push(`info ${message}`);
  }

  debug(message: string): void {
    this.#lines.push(`debug ${message}`);
  }

  child(): LoggerService {
    return this;
  }
}
