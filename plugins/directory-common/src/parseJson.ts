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
