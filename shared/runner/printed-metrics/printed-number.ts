/** A number as programs print it. */
export const numberPattern = String.raw`[-+]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?`;

/** A number that may have commas within. {@link printedNumber} decides whether it is one. */
export const commaNumberPattern = String.raw`[-+]?(?:\d{1,20}(?:,\d{1,20}){0,6}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?`;

/**
 * Return a printed number; `nan` and `inf` are what a diverged training prints. A comma is one of decimals in `0,612` and
 * `12,5`, and one between thousands in `1,234.5`. `1,234` may be either, so it is none.
 */
export function printedNumber(text: string): number | undefined {
  const plain = text.toLowerCase();
  if (/^[-+]?(?:nan)$/.test(plain)) return Number.NaN;
  if (/^[-+]?inf(?:inity)?$/.test(plain))
    return plain.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Number(text.includes(',') ? withoutComma(text) : text);
  return text.trim() !== '' && Number.isFinite(value) ? value : undefined;
}

function withoutComma(text: string): string {
  if (/^[-+]?\d{1,3}(?:,\d{3}){1,6}\.\d{1,20}$/.test(text)) return text.replaceAll(',', '');
  const isDecimal = /^[-+]?(?:0,\d{1,20}|\d{1,20},(?:\d{1,2}|\d{4,20}))(?:[eE][-+]?\d{1,3})?$/.test(text);
  return isDecimal ? text.replace(',', '.') : 'none';
}
