/** A number as programs print it. */
export const numberPattern = String.raw`[-+]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?`;

/** Return a printed number; `nan` and `inf` are what a diverged training prints. */
export function printedNumber(text: string): number | undefined {
  const plain = text.toLowerCase();
  if (/^[-+]?(?:nan)$/.test(plain)) return Number.NaN;
  if (/^[-+]?inf(?:inity)?$/.test(plain))
    return plain.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) ? value : undefined;
}
