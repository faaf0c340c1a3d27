const minus = '\u2212';

/** A value as people read it: four significant digits, powers of ten only where zeros would have to be counted. */
export function valueText(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e4 && magnitude < 1e7) return countText(Math.round(value)).replace('-', minus);
  const rounded = Number(value.toPrecision(4));
  const isPlain = value === 0 || (magnitude >= 1e-4 && magnitude < 1e4);
  return plainPower(isPlain ? String(rounded) : rounded.toExponential()).replaceAll('-', minus);
}

/** A count with its thousands apart. */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** `1e+6` as people write it. */
export const plainPower = (text: string): string => text.replace('e+', 'e').replace(/^0e0$/, '0');
