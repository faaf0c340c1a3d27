import { countText, valueText } from '../../drawing/number-text.ts';

/** Format a count, in millions or billions if it is large. */
export function amountText(count: number): string {
  if (count >= 1e9) return `${threeDigits(count / 1e9)} billion`;
  if (count >= 1e6) return `${threeDigits(count / 1e6)} million`;
  return countText(count);
}

const threeDigits = (value: number): string =>
  value >= 1000 ? countText(Math.round(value)) : String(Number(value.toPrecision(3)));

const byteUnits = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Format bytes in a fitting decimal unit: `13.96 MB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? countText(value) : threeDigits(value)} ${byteUnits[unit]}`;
}

export const millisecondsText = (ms: number): string => `${threeDigits(ms)} ms`;

export const secondsText = (seconds: number): string => `${threeDigits(seconds)} s`;

export const shareText = (share: number): string =>
  `${(share * 100).toFixed(share > 0.999 && share < 1 ? 2 : 1)} %`;

/** Format an error with two significant digits. */
export const errorText = (error: number): string =>
  error === 0 ? '0' : valueText(Number(error.toPrecision(2)));

/** Format a change as the factor after / before. */
export const factorText = (before: number, after: number): string =>
  before > 0 && after > 0 ? `${threeDigits(after / before)} ×` : '';

/**
 * Format speed relative to the source model, from the ratio time after / time before. Speed is always shown so
 * that above 1 is faster.
 */
export const speedText = (ratio: number): string =>
  ratio > 0 ? `${threeDigits(1 / ratio)} times as fast` : '';
