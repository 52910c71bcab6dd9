/**
 * Why bytes are no usable DER:
 *
 * - `malformed`: not DER at all, or cut off, or not what the grammar has at this place
 * - `trailing`: bytes are left after the value
 * - `complex`: nested too deep, or too many values
 */
export type DerTrouble = 'malformed' | 'trailing' | 'complex';

/**
 * Thrown inside this package while reading; never crosses its border. Its message names the rule
 * that was broken, and never holds any of the bytes.
 */
export class DerError extends Error {
  readonly trouble: DerTrouble;

  constructor(message: string, trouble: DerTrouble = 'malformed') {
    super(message);
    this.name = 'DerError';
    this.trouble = trouble;
  }
}
