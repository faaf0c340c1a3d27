import type { CompressionDetails } from '../../api/models.ts';
import { lineColour, lineCount } from '../../theme/colours.ts';
import type { Relative } from '../lineage/family.ts';
import type { Quality } from './quality.ts';

export type Measure = 'bytes' | 'latency';

/** A compression of a model's family, with its receipt. */
export type Measured = Relative<CompressionDetails>;

/** Version of a model in the plot. */
export interface Point {
  /** Id of the compression, or {@link originalId}. */
  id: string;
  label: string;
  x: number;
  y: number;
  colour: string;
}

/** Id of the model itself among its versions, as in its serving. */
export const originalId = 'original';

/** Colour index of the original: the last. Compressions have those before it. */
const originalColour = lineCount - 1;

/**
 * Return a point for the original and one for each compression. Without accuracy, skip the result of a result,
 * because its likeness does not refer to the original.
 */
export function pointsOf(family: readonly Measured[], measure: Measure, quality: Quality): Point[] {
  const points: Point[] = [];
  for (const [index, { path, receipt, strategy_id, isOwn }] of family.entries()) {
    if (receipt === null || (!quality.isAccuracy && !isOwn)) continue;
    const x = measure === 'bytes' ? receipt.file_bytes : receipt.latency?.p50;
    const y = quality.of(receipt, 'after');
    const original = quality.of(receipt, 'before');
    if (x === undefined) continue;
    if (points.length === 0 && isOwn && original !== undefined)
      points.push({
        id: originalId,
        label: originalId,
        x: x.before,
        y: original,
        colour: lineColour(originalColour),
      });
    if (y !== undefined)
      points.push({
        id: strategy_id,
        label: path,
        x: x.after,
        y,
        colour: lineColour(index % originalColour),
      });
  }
  return points;
}
