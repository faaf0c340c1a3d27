import { decimalPattern } from './decimal.ts';

/**
 * Write rows as CSV (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe; numbers,
 * also those that are texts, stay as they are.
 */
export const csvLines = (rows: readonly (readonly CsvValue[])[]): string =>
  rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');

/** Value of a cell. Null and undefined leave it empty. */
export type CsvValue = string | number | boolean | null | undefined;

function cell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return Object.is(value, -0) ? '-0.0' : String(value);
  const text = formula.test(value) && !decimalPattern.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Begins of formulas, also after blanks, in ASCII and in full width. */
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r]/;
