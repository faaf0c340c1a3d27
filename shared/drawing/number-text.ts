const minus = '\u2212';

/** Format a value with four significant digits. Use powers of ten only for numbers with many zeros. */
export function valueText(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e4 && magnitude < 1e7) return countText(Math.round(value)).replace('-', minus);
  const rounded = Number(value.toPrecision(4));
  const isPlain = value === 0 || (magnitude >= 1e-4 && magnitude < 1e4);
  return plainPower(isPlain ? String(rounded) : rounded.toExponential()).replaceAll('-', minus);
}

/** Format a count with thousands separators. */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** Convert `1e+6` to `1e6`. */
export const plainPower = (text: string): string => text.replace('e+', 'e').replace(/^0e0$/, '0');
