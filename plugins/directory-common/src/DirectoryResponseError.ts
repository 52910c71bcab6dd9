import type { ErrorBody } from './errorBodies';

/**
 * The gateway, or what stands before it, answered with an error status.
 * `message` is the server's own, fit to show to people.
 *
 * @public
 */
export class DirectoryResponseError extends Error {
  override readonly name = 'DirectoryResponseError';

  /** The HTTP status. */
  readonly status: number;

  /**
   * What the gateway said. `undefined` when the body is not the gateway's: a
   * proxy answered, or the portal did before the gateway was reached.
   */
  readonly body: ErrorBody | undefined;

  /** Seconds to wait before asking again, when the server named them. */
  readonly retryAfter: number | undefined;

  /** Reads an error response to its end. */
  static async fromResponse(
    response: Response,
  ): Promise<DirectoryResponseError> {
    const body = readBody(await response.text());
    return new DirectoryResponseError({
      message: messageOf(body) ?? `The directory answered ${response.status}`,
      status: response.status,
      body: isErrorBody(body) ? body : undefined,
      retryAfter: readRetryAfter(response.headers.get('Retry-After')),
    });
  }

  private constructor(options: {
    message: string;
    status: number;
    body: ErrorBody | undefined;
    retryAfter: number | undefined;
  }) {
    super(options.message);
    this.status = options.status;
    this.body = options.body;
    this.retryAfter = options.retryAfter;
  }
}

/**
 * Recognizes a {@link DirectoryResponseError} by its name, so that it works
 * across copies of this package.
 *
 * @public
 */
export function isDirectoryResponseError(
  error: unknown,
): error is DirectoryResponseError {
  return error instanceof Error && error.name === 'DirectoryResponseError';
}

function readBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // a proxy's page
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  return hasMessage(body) && 'request_id' in body;
}

/** The message of the gateway's body, or of the portal's `{"error": …}`. */
function messageOf(body: unknown): string | undefined {
  if (hasMessage(body)) {
    return body.message;
  }
  if (typeof body === 'object' && body !== null && 'error' in body) {
    return hasMessage(body.error) ? body.error.message : undefined;
  }
  return undefined;
}

function hasMessage(value: unknown): value is { message: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'message' in value &&
    typeof value.message === 'string'
  );
}

/** The delay in seconds; the other form, a date, is not in the contract. */
function readRetryAfter(value: string | null): number | undefined {
  return value !== null && /^\d+$/.test(value) ? Number(value) : undefined;
}

/** What a reviver is told about a primitive value (ECMA-262, JSON.parse source text access). */
interface ReviverContext {
  source?: string;
}

/**
 * Reads the JSON of the contract without losing a digit: a serial number,
 * which has up to 128 bits, becomes a `bigint`, however small it is; every
 * other number is a page number or a count and stays a `number`.
 *
 * Throws a SyntaxError when the text is not JSON or a serial number is not a
 * plain integer, and a RangeError when it is too long for a runtime that
 * does not show a reviver the source text (Node.js before 22).
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, reviveSerialNumber);
}

function reviveSerialNumber(
  key: string,
  value: unknown,
  context?: ReviverContext,
): unknown {
  if (key !== 'serial_number' || typeof value !== 'number') {
    return value;
  }
  if (context?.source !== undefined) {
    return BigInt(context.source);
  }
  if (!Number.isSafeInteger(value)) {
    throw new RangeError('This runtime cannot read long serial numbers');
  }
  return BigInt(value);
}
