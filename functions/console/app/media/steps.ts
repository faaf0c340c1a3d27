import type { MediaItem, MediaOfExperiment } from '../api/media.ts';

/** Return all steps of the series, ascending. */
export const stepsOf = (media: readonly MediaOfExperiment[]): number[] =>
  [
    ...new Set(
      media.flatMap(({ series }) =>
        series.flatMap(({ items }) => items.flatMap(({ step }) => (step === null ? [] : [step]))),
      ),
    ),
  ].sort((a, b) => a - b);

/** Return the item of a series at a step: the last one that is not after it, else the first. */
export const itemAt = (items: readonly MediaItem[], step: number | undefined): MediaItem | undefined =>
  items[indexAt(items, step)];

function indexAt(items: readonly MediaItem[], step: number | undefined): number {
  if (step === undefined) return items.length - 1;
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.step ?? Number.NEGATIVE_INFINITY) <= step) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Yield the items of a series by their distance from a step, the nearest first, at most so many. */
export function* itemsAround(
  items: readonly MediaItem[],
  step: number | undefined,
  most: number,
): Generator<MediaItem, void> {
  const at = indexAt(items, step);
  let left = Math.min(most, items.length);
  for (let distance = 0; left > 0; distance += 1)
    for (const index of distance === 0 ? [at] : [at + distance, at - distance]) {
      const item = items[index];
      if (item === undefined) continue;
      yield item;
      left -= 1;
      if (left === 0) return;
    }
}
