import { numberText } from '../ui/text/format.ts';
import type { Column } from './columns.ts';

/** Blanks as wide as a digit and as the point, in every font with figures of one width. */
const digit = '\u2007';
const point = '\u2008';
/** Of the text of the table, in rem. */
const digitWidth = 0.52;
const cellPadding = 1.5;
/** Rows whose figures decide on the width of a column. */
const sampled = 200;

const decimalsOf = (text: string): number => {
  const at = text.indexOf('.');
  return at < 0 || text.includes('e') ? 0 : text.length - at - 1;
};

/** Return the most decimal places that some rows show in a column of plain numbers. */
export function mostDecimals<R>(column: Column<R>, rows: readonly R[]): number {
  if (!column.isNumber || column.show !== numberText) return 0;
  let most = 0;
  const stride = Math.max(1, Math.floor(rows.length / sampled));
  for (let index = 0; index < rows.length; index += stride) {
    const row = rows[index];
    if (row !== undefined) most = Math.max(most, decimalsOf(column.text(row)));
  }
  return most;
}

/**
 * Return the blanks that put the point of a number below those of the other rows, as far as its cell has room. A number
 * written with a power of ten, and what is no number, get none.
 */
export function pointPad(text: string, column: Pick<Column, 'decimals' | 'width'>): string {
  const { decimals = 0, width } = column;
  const own = decimalsOf(text);
  if (own >= decimals || !/^-?[\d,]+(?:\.\d+)?$/.test(text)) return '';
  const pad = (own === 0 ? point : '') + digit.repeat(decimals - own);
  return text.length + pad.length > (width - cellPadding) / digitWidth ? '' : pad;
}
