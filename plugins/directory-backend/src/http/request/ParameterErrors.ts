import { InvalidRequestError } from '../../apiErrors';

/**
 * The errors in the parameters of one request. A parser adds every error that
 * it finds and returns a fallback; {@link parseParameters} throws the errors
 * together and discards the fallbacks.
 */
export class ParameterErrors {
  readonly #malformed = new Map<string, string>();
  #rejection: InvalidRequestError | undefined;

  /** Adds the error of a parameter; only its first error is kept. */
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

  /** Error of all malformed parameters, or else the one passed to `reject`. */
  get error(): InvalidRequestError | undefined {
    return this.#malformed.size > 0
      ? new InvalidRequestError({
          message: 'Input payload validation failed',
          errors: Object.fromEntries(this.#malformed),
        })
      : this.#rejection;
  }
}

/**
 * Runs the parsers of a request and throws their errors together.
 *
 * @throws InvalidRequestError that names every missing or malformed parameter;
 *   without one, the error passed to {@link ParameterErrors.reject}.
 */
export function parseParameters<T>(parse: (errors: ParameterErrors) => T): T {
  const errors = new ParameterErrors();
  const parsed = parse(errors);
  if (errors.error) {
    throw errors.error;
  }
  return parsed;
}
