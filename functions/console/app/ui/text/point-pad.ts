/** Blanks as wide as a digit and as the point, in every font with figures of one width. */
const digit = '\u2007';
const point = '\u2008';

const plainNumber = /^-?[\d,]+(?:\.(\d+))?$/;

export const isPlainNumber = (text: string): boolean => plainNumber.test(text);

/** Return the decimal places of a plain number. Others, as with a power of ten, have none that could be aligned. */
export const decimalsOf = (text: string): number => plainNumber.exec(text)?.[1]?.length ?? 0;

/**
 * Return the blanks that put the point of a number below those of others with up to some decimal places. A number with a
 * power of ten, what is no number, and what would become longer than the room for it, get none.
 *
 * @param room most characters of the number with its blanks
 */
export function pointPad(text: string, decimals: number, room = Number.POSITIVE_INFINITY): string {
  const own = decimalsOf(text);
  if (own >= decimals || !plainNumber.test(text)) return '';
  const pad = (own === 0 ? point : '') + digit.repeat(decimals - own);
  return text.length + pad.length > room ? '' : pad;
}
