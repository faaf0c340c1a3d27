import { numberText } from '../ui/text/format.ts';

/** Difference of a value from a baseline's. */
export interface Difference {
  text: string;
  /** Undefined if it is neither, or if it is unknown whether low or high values are better. */
  isBetter: boolean | undefined;
}

/** Return the difference with its sign, in three digits. Return undefined if a value is no finite number. */
export function differenceFrom(
  base: number | undefined,
  value: string | number | undefined,
  goal: 'minimize' | 'maximize' | undefined,
): Difference | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || base === undefined || !Number.isFinite(base))
    return undefined;
  const difference = Number((value - base).toPrecision(3));
  if (!Number.isFinite(difference)) return undefined;
  if (difference === 0) return { text: '±0', isBetter: undefined };
  return {
    text: `${difference > 0 ? '+' : '−'}${numberText(Math.abs(difference))}`,
    isBetter: goal && difference > 0 === (goal === 'maximize'),
  };
}
