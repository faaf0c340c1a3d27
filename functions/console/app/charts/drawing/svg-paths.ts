import type { Line } from '../series.ts';

/** Converts a value of an axis to a coordinate. It is not finite for a value that the axis does not show. */
type Scale = (value: number) => number;

/** Return the path of a line. It has a gap at each point that is not finite. */
export function linePath({ xs, ys }: Line, x: Scale, y: Scale): string {
  let isDown = false;
  let out = '';
  for (let index = 0; index < xs.length; index += 1) {
    const at = pointText(x(xs[index] ?? Number.NaN), y(ys[index] ?? Number.NaN));
    if (at !== undefined) out += `${isDown ? 'L' : 'M'}${at}`;
    isDown = at !== undefined;
  }
  return out;
}

/** Return the path of the area between two lines with the same xs: a closed piece for each part without a gap. */
export function bandPath(low: Line, high: Line, x: Scale, y: Scale): string {
  let out = '';
  let [there, back]: [string[], string[]] = [[], []];
  for (let index = 0; index <= low.xs.length; index += 1) {
    const across = x(low.xs[index] ?? Number.NaN);
    const above = pointText(across, y(high.ys[index] ?? Number.NaN));
    const below = pointText(across, y(low.ys[index] ?? Number.NaN));
    if (above !== undefined && below !== undefined) {
      there.push(above);
      back.unshift(below);
    } else {
      if (there.length > 1) out += `M${[...there, ...back].join('L')}Z`;
      [there, back] = [[], []];
    }
  }
  return out;
}

const pointText = (x: number, y: number): string | undefined =>
  Number.isFinite(x) && Number.isFinite(y) ? `${x.toFixed(1)} ${y.toFixed(1)}` : undefined;
