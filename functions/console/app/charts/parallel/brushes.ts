import type { Axis } from '../values/axis.ts';

/** Part of an axis that is chosen, in its units. */
export type Brush = readonly [low: number, high: number];

/** Brushes by the name of their axis. The address holds them, so that a link shows the same choice. */
export type Brushes = ReadonlyMap<string, Brush>;

/** Return which items all brushes choose. An item without a value on a brushed axis is not chosen. */
export function chosenBy(axes: readonly Axis[], brushes: Brushes, count: number): readonly boolean[] {
  const brushed = axes.flatMap((axis) => {
    const brush = brushes.get(axis.name);
    return brush === undefined ? [] : [{ axis, low: brush[0], high: brush[1] }];
  });
  return Array.from({ length: count }, (_, index) =>
    brushed.every(({ axis, low, high }) => {
      const unit = axis.units[index];
      // Brushes are rounded for the address.
      const slack = Math.abs(unit ?? 0) * 1e-5;
      return unit !== undefined && unit >= low - slack && unit <= high + slack;
    }),
  );
}
