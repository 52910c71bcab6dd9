import { stringify } from 'csv-stringify/sync';

/** Several values of one cell. */
const SEPARATOR = '; ';

/**
 * Where a spreadsheet starts to read a cell as a formula: at its start, and,
 * because programs disagree about quotes and separators, after a line break or
 * a semicolon.
 */
const FORMULA = /(^|[\r\n;])( *)(?=[=+\-@\t＝＋－＠])/g;

/**
 * Returns rows of cells as CSV (RFC 4180). An apostrophe is inserted in front
 * of each text that a spreadsheet could run as a formula (OWASP, "CSV
 * Injection").
 */
export function csvRows(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map(cells => cells.map(cell => defuse(textOf(cell)))),
    { record_delimiter: 'windows', quoted_match: [/[\r\n;]/] },
  );
}

function defuse(text: string): string {
  return text.replace(FORMULA, "$1$2'").replace(/^(?=[\r\n])/, "'");
}

/** A value of a presented record: a scalar, a list of texts, or null. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(SEPARATOR) : String(value ?? '');
}
