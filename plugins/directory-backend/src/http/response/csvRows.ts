import { stringify } from 'csv-stringify/sync';

/** Several values of one cell. */
const SEPARATOR = '; ';

/**
 * Rows of cells as CSV (RFC 4180). A cell that a spreadsheet would take for a
 * formula starts with an apostrophe, as OWASP advises against CSV injection.
 */
export function csvRows(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map(cells => cells.map(textOf)),
    { record_delimiter: 'windows', escape_formulas: true },
  );
}

/** A value of a presented record: a scalar, a list of texts, or null. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(SEPARATOR) : String(value ?? '');
}
