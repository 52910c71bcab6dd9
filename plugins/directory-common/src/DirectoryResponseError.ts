import type { ErrorBody } from './errorBodies';

/**
 * An error response from the gateway or a proxy. `message` is the server's
 * message, for display.
 *
 * @public
 */
export class DirectoryResponseError extends Error {
  /** Name of the error. */
  override readonly name = 'DirectoryResponseError';

  /** HTTP status. */
  readonly status: number;

  /**
   * The gateway's error body; `undefined` if the response is from a proxy or
   * from the portal in front of the gateway.
   */
  readonly body: ErrorBody | undefined;

  /** Delay before a retry in seconds, if the server sent one. */
  readonly retryAfter: number | undefined;

  /** Reads an error response. */
  static async fromResponse(
    response: Response,
  ): Promise<DirectoryResponseError> {
    const body = readBody(await response.text());
    return new DirectoryResponseError({
      message: messageOf(body) ?? `The directory returned ${response.status}`,
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
 * Returns whether an error is a {@link DirectoryResponseError}. Checks the
 * name, so it works with several copies of this package.
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
    return undefined; // error page of a proxy
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  return hasMessage(body) && 'request_id' in body;
}

/**
 * Returns the message in the gateway's body or in the portal's `{"error": …}`.
 */
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

/** Parses the value in seconds; the contract does not use dates. */
function readRetryAfter(value: string | null): number | undefined {
  return value !== null && /^\d+$/.test(value) ? Number(value) : undefined;
}

/** Third argument of a reviver (ECMAScript JSON.parse source text access). */
interface ReviverContext {
  source?: string;
}

/**
 * Parses JSON of the contract with exact serial numbers, which have up to 160
 * bits and become `bigint`. Other numbers are page numbers and counts.
 *
 * Throws a SyntaxError if the text is not JSON or a serial number is not an
 * integer, and a RangeError if a serial number is too long for a runtime
 * without source text access (Node.js before 22).
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
    throw new RangeError('This runtime cannot parse long serial numbers');
  }
  return BigInt(value);
}
