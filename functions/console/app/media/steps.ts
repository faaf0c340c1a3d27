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
export function itemAt(items: readonly MediaItem[], step: number | undefined): MediaItem | undefined {
  if (step === undefined) return items.at(-1);
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.step ?? Number.NEGATIVE_INFINITY) <= step) low = middle + 1;
    else high = middle;
  }
  return items[Math.max(0, low - 1)];
}

/** Return the items of a series by their distance from a step, the nearest first. */
export function itemsAround(
  items: readonly MediaItem[],
  step: number | undefined,
  most: number,
): MediaItem[] {
  const present = itemAt(items, step);
  if (present === undefined) return [];
  const at = items.indexOf(present);
  const found = [present];
  for (let distance = 1; found.length < Math.min(most, items.length); distance += 1) {
    const [after, before] = [items[at + distance], items[at - distance]];
    if (after !== undefined) found.push(after);
    if (before !== undefined) found.push(before);
  }
  return found;
}
