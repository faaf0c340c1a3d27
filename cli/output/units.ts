export { dollarsText, secondsText } from '../../shared/core/text/amounts.ts';

/** Format a number with at most six significant digits. */
export const numberText = (value: number): string => String(Number(value.toPrecision(6)));
