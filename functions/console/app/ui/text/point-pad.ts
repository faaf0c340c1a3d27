/** Blanks as wide as a digit and as the point, in every font with figures of one width. */
const digit = '\u2007';
const point = '\u2008';

/** Return the decimal places of a written number. A number with a power of ten has none that could be aligned. */
export function decimalsOf(text: string): number {
  const at = text.indexOf('.');
  return at < 0 || text.includes('e') ? 0 : text.length - at - 1;
}

/**
 * Return the blanks that put the point of a number below those of others with up to some decimal places. A number with a
 * power of ten, what is no number, and what would become longer than the room for it, get none.
 *
 * @param room most characters of the number with its blanks
 */
export function pointPad(text: string, decimals: number, room = Number.POSITIVE_INFINITY): string {
  const own = decimalsOf(text);
  if (own >= decimals || !/^-?[\d,]+(?:\.\d+)?$/.test(text)) return '';
  const pad = (own === 0 ? point : '') + digit.repeat(decimals - own);
  return text.length + pad.length > room ? '' : pad;
}
