import { InvalidRequestError } from '../response/apiErrors';

/**
 * The errors in the parameters of one request. A parser adds every error that
 * it finds and returns a fallback; {@link parseParameters} throws the errors
 * together and discards the fallbacks.
 */
export class ParameterErrors {
  readonly #malformed = new Map<string, string>();
  #rejection: InvalidRequestError | undefined;

  /** Adds a missing or malformed parameter. Its first error is kept. */
  add(name: string, message: string): void {
    if (!this.#malformed.has(name)) {
      this.#malformed.set(name, message);
    }
  }

  /**
   * Adds an error that has its own body, for example a search without a term.
   * The first one is kept.
   */
  reject(error: InvalidRequestError): void {
    this.#rejection ??= error;
  }

  /**
   * Throws when an error was added.
   *
   * @throws InvalidRequestError that names every missing or malformed
   *   parameter; without one, the error passed to {@link reject}.
   */
  throwIfAny(): void {
    if (this.#malformed.size > 0) {
      throw new InvalidRequestError({
        message: 'Input payload validation failed',
        errors: Object.fromEntries(this.#malformed),
      });
    }
    if (this.#rejection) {
      throw this.#rejection;
    }
  }
}

/**
 * Runs the parsers of a request and throws their errors together.
 *
 * @throws InvalidRequestError as {@link ParameterErrors.throwIfAny}.
 */
export function parseParameters<T>(parse: (errors: ParameterErrors) => T): T {
  const errors = new ParameterErrors();
  const parsed = parse(errors);
  errors.throwIfAny();
  return parsed;
}
