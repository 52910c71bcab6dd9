import type { RpcValue } from './RpcValue';

/** TypeScript does not know yet that a reviver gets to see the source text. */
const parse = JSON.parse as (
  text: string,
  reviver: (
    key: string,
    value: unknown,
    context: { readonly source?: string },
  ) => unknown,
) => unknown;

/**
 * Parses JSON without rounding: whole numbers that a double cannot hold become
 * bigint. Before 4.10 FreeIPA wrote serial numbers as JSON numbers, and some of
 * its commands still do.
 *
 * @throws SyntaxError when it is no JSON.
 */
export function parseExactJson(text: string): RpcValue {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    /^-?\d+$/.test(source ?? '')
      ? BigInt(source!)
      : value,
  ) as RpcValue;
}
