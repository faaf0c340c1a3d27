/** A measured number and what it must not exceed. */
export interface Figure {
  what: string;
  value: number;
  unit: string;
  /** What it must be at most, or at least where `isLeast`; undefined where it is only told. */
  bound?: number;
  isLeast?: boolean;
}

export const isMet = ({ value, bound, isLeast = false }: Figure): boolean =>
  bound === undefined || (isLeast ? value >= bound : value <= bound);

export function figureText(figure: Figure): string {
  const { what, value, unit, bound, isLeast = false } = figure;
  const limit = bound === undefined ? '' : ` (${isLeast ? '≥' : '≤'} ${bound})`;
  const sign = bound === undefined ? '    ' : isMet(figure) ? 'ok  ' : 'OVER';
  return `${sign} ${what}: ${Number(value.toPrecision(3))} ${unit}${limit}`;
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
