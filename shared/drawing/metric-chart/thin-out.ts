import { extent, greatest, group, least } from 'd3-array';

/** A point of a line. */
export interface ChartPoint {
  x: number;
  y: number;
}

/**
 * Reduce a line to at most `most` points, sorted by x: the first, the last, and the lowest and highest of equal
 * parts of the x axis. This keeps every visible spike, minimum and maximum.
 */
export function thinOut<P extends ChartPoint>(points: readonly P[], most: number): P[] {
  const sorted = points.toSorted((one, other) => one.x - other.x);
  if (sorted.length <= most) return sorted;
  const [first = 0, last = 0] = extent(sorted, ({ x }) => x);
  const parts = Math.max(1, Math.floor((most - 2) / 2));
  const width = (last - first) / parts || 1;
  const kept = new Set([sorted[0], sorted.at(-1)]);
  for (const part of group(sorted, ({ x }) =>
    Math.min(parts - 1, Math.floor((x - first) / width)),
  ).values()) {
    kept.add(least(part, ({ y }) => y)).add(greatest(part, ({ y }) => y));
  }
  return sorted.filter((place) => kept.has(place));
}
